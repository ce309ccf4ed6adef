import { bringDown } from './cluster.ts';
import { describeLab } from './lab.ts';

try {
  const ended = await bringDown(describeLab(process.env));
  console.log(ended.length > 0 ? `ended: ${ended.join(', ')}` : 'nothing was running');
} catch (error) {
  console.error(`make cluster-down: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
