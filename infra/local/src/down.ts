import { bringDown } from './stack.ts';

const dir = process.env['PARLEY_LOCAL_DIR'] ?? '.local';

try {
  const stopped = await bringDown(dir);
  console.log(stopped.length > 0 ? `stopped: ${stopped.join(', ')}` : 'nothing was running');
} catch (error) {
  console.error(`make down: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
