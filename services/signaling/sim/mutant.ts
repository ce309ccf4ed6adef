/** Runs seeds with one mutation until one fails. `node sim/mutant.ts "<mutation>" <seeds>` prints a `Verdict` as JSON. */
import { registerHooks } from 'node:module';
import { kindOf } from './kinds.ts';
import { mutate, mutationOf } from './mutations.ts';

export interface Verdict {
  readonly caughtBy: number | undefined;
  readonly reason: string | undefined;
}

const CORE = new URL('../src/core/', import.meta.url).href;

const [, , name = '', seeds = '1000'] = process.argv;
const { edits, kinds } = mutationOf(name);
const left = new Set(edits.map(({ file }) => file));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const here = edits.filter(({ file }) => url === CORE + file);
    if (here.length === 0) return loaded;
    for (const { file } of here) left.delete(file);
    const { source = '' } = loaded;
    const text = typeof source === 'string' ? source : new TextDecoder().decode(source ?? undefined);
    return { ...loaded, source: mutate(text, here) };
  },
});

// Imported only now, so that the modules are mutated.
const { play } = await import('./play.ts');
if (left.size > 0) throw new Error(`${[...left].join(', ')} was never loaded`);
process.stdout.write(JSON.stringify(firstFailure(Number(seeds))));

function firstFailure(count: number): Verdict {
  for (let seed = 0; seed < count; seed += 1) {
    try {
      play(seed, kindOf(seed, kinds));
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error));
      return { caughtBy: seed, reason: message.split('\n')[0] };
    }
  }
  return { caughtBy: undefined, reason: undefined };
}
