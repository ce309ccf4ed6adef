/** Participants in a call during a failure, and the conditions that show that none of them was disturbed. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { cappedStall } from './stalls.ts';
import type { Visitor } from './visitor.ts';

/** The longest interruption that does not count, besides the longest before the failure. */
export const HICCUP_MS = 1000;
/** How long participants are watched without a fault, to measure the interruptions that the machine causes. */
const CALM_MS = 3000;

export interface Interruptions {
  /** The longest of any participant while nothing failed. */
  readonly calmMs: number;
  readonly pairs: Readonly<Record<string, { readonly stillMs: number; readonly silentMs: number }>>;
  readonly stalledMs: Readonly<Record<string, number>>;
}

export interface DisturbanceWatch {
  /**
   * Fails if a page became another participant, removed a tile, received or showed that a participant joined or left, made a new connection,
   * or had an interruption of another one's picture or sound that exceeds those before the failure, of which at most `MAX_STALL_MS` count, by
   * more than a hiccup. Resolves with the longest interruption of each pair (`Ada of Bo`), and with how long each page itself stalled.
   */
  assertUndisturbed(): Promise<Interruptions>;
}

/** Starts to watch, after a calm time. The participants already see and hear each other. */
export async function watchForDisturbance(people: readonly Visitor[]): Promise<DisturbanceWatch> {
  const calmMs = await longestWhileCalm(people);
  const before = await Promise.all(
    people.map(async (person) => ({
      person,
      participant: await person.participant(),
      mark: person.messages.log.length,
    })),
  );
  await Promise.all(people.map((person) => person.watch()));
  const nameOf = (of: string): string =>
    before.find(({ participant }) => participant === of)?.person.name ?? of;

  return {
    async assertUndisturbed() {
      const pairs: Record<string, { stillMs: number; silentMs: number }> = {};
      const stalls: Record<string, number> = {};
      for (const { person, participant, mark } of before) {
        const { name } = person;
        const { tilesGone, notices, connectionsMade, interruptions, stalledMs } = await person.watched();
        assert.equal(await person.participant(), participant, `${name} is the same participant`);
        assert.deepEqual(person.messages.joinsAndLeaves(mark), [], `messages that ${name}'s page received`);
        const shown = notices.filter((text) => / (joined|left)$/.test(text));
        assert.deepEqual(shown, [], `notices of ${name}'s page`);
        assert.equal(tilesGone, 0, `${name} kept all tiles`);
        assert.equal(connectionsMade, 0, `${name} kept its connections`);
        assert.equal(interruptions.length, people.length - 1, `${name} saw all others`);
        for (const { of, ...longest } of interruptions) pairs[`${name} of ${nameOf(of)}`] = longest;
        stalls[name] = stalledMs;
      }
      const tooLong = Object.entries(pairs).filter(
        ([, { stillMs, silentMs }]) => Math.max(stillMs, silentMs) >= HICCUP_MS + cappedStall(calmMs),
      );
      assert.deepEqual(tooLong, [], 'pictures and voices continue');
      return { calmMs, pairs, stalledMs: stalls };
    },
  };
}

async function longestWhileCalm(people: readonly Visitor[]): Promise<number> {
  await Promise.all(people.map((person) => person.watch()));
  await pause(CALM_MS);
  const watched = await Promise.all(people.map((person) => person.watched()));
  const interruptions = watched.flatMap((one) => one.interruptions);
  return Math.max(...interruptions.flatMap(({ stillMs, silentMs }) => [stillMs, silentMs]));
}
