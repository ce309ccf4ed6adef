/** Waits for what a page plays. Each needs `listen` of `voices.ts` before. */
import { until } from './until.ts';
import type { Visitor } from './visitor.ts';
import { playedSound } from './voices.ts';

/** Beeps are half a second apart, and buffered sound is still played. */
const QUIET_MS = 2000;
const WITHIN_MS = 20_000;

/** Resolves when exactly these elements play: `mix`, or participants. */
export async function playsOnly({ name, page }: Visitor, elements: readonly string[]): Promise<void> {
  const wanted = elements.toSorted().join();
  let now = '';
  await until(async () => (now = (await playedSound(page)).elements.toSorted().join()) === wanted, {
    withinMs: WITHIN_MS,
    what: () => `${name}’s page to play ${wanted}: it plays ${now}`,
  });
}

/** Resolves when nothing was played for `QUIET_MS`. */
export async function isSilent({ name, page }: Visitor): Promise<void> {
  let before = Number.NaN;
  await until(
    async () => {
      const { audibleMs } = await playedSound(page);
      const same = audibleMs === before;
      before = audibleMs;
      return same;
    },
    { withinMs: WITHIN_MS, everyMs: QUIET_MS, what: () => `${name}’s page to be silent` },
  );
}

/** Resolves when three more beeps were played. */
export async function isLoud({ name, page }: Visitor): Promise<void> {
  const before = (await playedSound(page)).beeps;
  await until(async () => (await playedSound(page)).beeps >= before + 3, {
    withinMs: WITHIN_MS,
    what: () => `${name}’s page to beep`,
  });
}
