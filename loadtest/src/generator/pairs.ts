/** Pairs: one sends 2 kB messages to the other, never more than a window of them on their way. */
import { performance } from 'node:perf_hooks';
import type { Target } from './dialect.ts';
import { Person, type Crowd } from './person.ts';

export interface PairsHost {
  readonly crowd: Crowd;
  readonly targets: readonly Target[];
  readonly pairs: number;
  readonly window: number;
  readonly goesOn: () => boolean;
  readonly onMessage: (tookMs: number) => void;
}

/** Everyone is in and every pair is sending. */
export async function startPairs(host: PairsHost): Promise<void> {
  await Promise.all(Array.from({ length: host.pairs }, () => startPair(host)));
}

async function startPair({ crowd, targets, window, goesOn, onMessage }: PairsHost): Promise<void> {
  const room = crowd.dialect.newRoom();
  // Messages come in the order they were sent, so the oldest time belongs to the next one.
  const sentAt: number[] = [];
  const arrive = async (
    target: Target | undefined,
    onSignal: () => void,
  ): Promise<[Person, readonly string[]]> => {
    if (target === undefined) throw new Error('no target');
    const admission = await crowd.dialect.admit(target, room);
    return new Promise((resolve) => {
      new Person(crowd, admission, { onWelcome: (who, others) => resolve([who, others]), onSignal });
    });
  };
  const send = (): void => {
    sentAt.push(performance.now());
    sender.send(reader.me, 'message');
  };
  const [reader] = await arrive(targets[0], () => {
    onMessage(performance.now() - (sentAt.shift() ?? Number.NaN));
    if (goesOn()) send();
  });
  const [sender, others] = await arrive(targets.at(-1), () =>
    crowd.tally.fail('the sender was sent something'),
  );
  if (others.length !== 1 || others[0] !== reader.me)
    throw new Error('the two of a pair do not see each other');
  for (let at = 0; at < window; at += 1) send();
}
