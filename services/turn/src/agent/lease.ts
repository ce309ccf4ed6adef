/** Tells signaling of this node for as long as it works. SPEC rules TURN-5 and TURN-8. */
import { turnNodeSubject } from '@parley/protocol/subjects';
import type { TurnNode } from '@parley/protocol/turn';
import { log } from './log.ts';

// A lease lapses after 6 s (turn.leaseDuration): two of these may be lost.
const SAY_EVERY_MS = 2000;

export interface Lease {
  /** Whether clients are sent here, as far as this node knows. */
  isHeld(): boolean;
  /** Whether it was held at some time: before, nobody knows of this node. */
  wasHeld(): boolean;
  /** Nobody is sent here any more, whatever happens afterwards. Resolves when NATS has it, or is too slow. */
  withdraw(): Promise<void>;
  close(): Promise<void>;
}

export interface LeaseParts {
  readonly bus: LeaseBus;
  readonly describe: () => TurnNode;
  /** Whether coturn answers. */
  readonly works: () => Promise<boolean>;
}

export interface LeaseBus {
  /** False where it is not there. */
  publish(subject: string, text: string): boolean;
  /** Resolves when what was published has arrived, at the latest after a second. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function holdLease({ bus, describe, works }: LeaseParts): Lease {
  let held = false;
  let everHeld = false;
  let gone = false;
  const say = async (): Promise<void> => {
    // One that is not renewed lapses: a single late answer of coturn withdraws nothing.
    const isDue = gone || (await works());
    const node = gone ? { ...describe(), draining: gone } : describe();
    const isSaid = isDue && bus.publish(turnNodeSubject, JSON.stringify(node));
    if (held !== (isSaid && !gone)) log(held ? 'lease not held' : 'lease held');
    held = isSaid && !gone;
    everHeld ||= held;
  };
  void say();
  const timer = setInterval(() => void say(), SAY_EVERY_MS);
  return {
    isHeld: () => held,
    wasHeld: () => everHeld,
    async withdraw() {
      gone = true;
      await say();
      await bus.flush();
    },
    async close() {
      clearInterval(timer);
      await bus.close();
    },
  };
}
