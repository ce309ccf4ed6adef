/** The targets in Rust: tests of the relay, which `cargo test` runs with a bounded number of inputs. Here they get a time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const TESTS = ['fuzz', 'decoder', 'link'].flatMap((test) => ['--test', test]);
/** How many there are in those tests, for their share of the time. */
export const RUST_TARGETS = 9;

export interface RustOptions {
  readonly root: string;
  readonly seed: number;
  /** Of each target. */
  readonly ms: number;
}

/** Returns whether all targets passed. Each target prints its own line. */
export async function fuzzRelay({ root, seed, ms }: RustOptions): Promise<boolean> {
  const cargo = spawn(
    'cargo',
    [
      'test',
      '--quiet',
      '--no-fail-fast',
      '-p',
      'parley-relay',
      ...TESTS,
      '--',
      '--nocapture',
      '--test-threads=1',
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, RELAY_FUZZ_MS: String(Math.ceil(ms)), RELAY_SEED: String(seed) },
    },
  );
  const [code] = (await once(cargo, 'exit')) as [number | null];
  return code === 0;
}
