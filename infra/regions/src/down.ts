import { bringDown } from './regions.ts';
import { placeFromEnv } from './site.ts';

try {
  const stopped = await bringDown(placeFromEnv(process.env));
  console.log(stopped.length > 0 ? `stopped: ${stopped.join(', ')}` : 'nothing was running');
} catch (error) {
  console.error(`make regions-down: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
