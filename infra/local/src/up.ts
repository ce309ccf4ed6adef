import { portsFromEnv } from './ports.ts';
import { bringUp, describeSite } from './stack.ts';

const dir = process.env['PARLEY_LOCAL_DIR'] ?? '.local';

try {
  const endpoints = await bringUp(describeSite(dir, portsFromEnv(process.env), process.env));
  console.log(`Parley runs: ${endpoints.web}`);
  console.log(`Streams:     ${endpoints.web}/streams`);
  console.log(`             npx wscat --connect ${endpoints.streams}/demo (in two terminals)`);
  if ((process.env['PARLEY_RELAY_ACCESS'] ?? 'open') === 'open')
    console.log(
      '             open: every client publishes and reads every topic (services/relay/README.md, Access)',
    );
} catch (error) {
  console.error(`make up: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
