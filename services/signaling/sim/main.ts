/** `npm run simulate`: runs many seeds, or one, or tries the mutations. */
import { parseArgs } from 'node:util';
import { kindNamed, kindOf, REGION_KINDS } from './kinds.ts';
import { play } from './play.ts';
import { tryAll } from './mutants.ts';

const PROGRESS_MS = 5000;
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    /** Of `seed`, where not its own. */
    kind: { type: 'string' },
    /** Instead of the usual ones: `regions`. */
    kinds: { type: 'string' },
    mutations: { type: 'boolean', default: false },
  },
});

if (values.kinds !== undefined && values.kinds !== 'regions')
  throw new Error(`there are no kinds "${values.kinds}"`);
const kinds = values.kinds === 'regions' ? REGION_KINDS : undefined;

if (values.mutations) process.exitCode = (await tryAll(say)) ? 0 : 1;
else if (values.kind !== undefined) play(Number(values.seed), kindNamed(values.kind));
else if (values.seed !== undefined) simulate(Number(values.seed), 1);
else simulate(Number(values.from), Number(values.seeds));

function simulate(from: number, count: number): void {
  const startedAt = performance.now();
  let reportedAt = startedAt;
  let failed = 0;
  let simulatedMs = 0;
  const speed = (): string => {
    const tookMs = performance.now() - startedAt;
    return `${Math.round(simulatedMs / 1000)} s simulated in ${(tookMs / 1000).toFixed(1)} s, ${Math.round(simulatedMs / tookMs)} simulated seconds per second`;
  };
  for (let seed = from; seed < from + count; seed += 1) {
    try {
      simulatedMs += play(seed, kindOf(seed, kinds)).simulatedMs;
    } catch (error) {
      failed += 1;
      say(error instanceof Error ? error.message : String(error));
    }
    if (performance.now() - reportedAt < PROGRESS_MS) continue;
    reportedAt = performance.now();
    say(`${seed - from + 1} of ${count} seeds, ${failed} failed, ${speed()}`);
  }
  say(speed());
  say(`${count - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
