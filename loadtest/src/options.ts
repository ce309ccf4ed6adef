/** The command lines of benches. A command line that is wrong ends the process with status 2, as clap does. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

type Values<T extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/** The values of the options. `--help` prints `usage` and ends the process with status 0. */
export function readOptions<T extends ParseArgsOptionsConfig>(usage: string, options: T): Values<T> {
  if (process.argv.slice(2).includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** The names in a comma-separated value, each of which must be known; without a value, `defaults`. */
export function readNames(
  text: string | undefined,
  { known, defaults, usage }: { known: readonly string[]; defaults: readonly string[]; usage: string },
): readonly string[] {
  const names = text?.split(',') ?? defaults;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) refuse(`no such row: ${unknown.join(', ')}; known: ${known.join(', ')}`, usage);
  return names;
}

/** A number of at least `min`; without a value, `otherwise`. */
export function readNumber(
  flag: string,
  text: string | undefined,
  { otherwise, min, usage }: { otherwise: number; min: number; usage: string },
): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value >= min)) refuse(`${flag} must be at least ${min}`, usage);
  return value;
}

/** Ends the process with status 2. */
export function refuse(problem: string, usage: string): never {
  console.error(problem);
  console.error(usage);
  process.exit(2);
}
