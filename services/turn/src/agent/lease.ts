/** Publishes the lease of this node to signaling for as long as coturn answers. SPEC rules TURN-5 and TURN-8. */
import { turnNodeSubject } from '@parley/protocol/subjects';
import type { TurnNode } from '@parley/protocol/turn';
import { log } from './log.ts';

// A lease lapses after 6 s (turn.leaseDuration), so two messages in a row may be lost.
const LEASE_INTERVAL_MS = 2000;

export interface Lease {
  /** Whether signaling offers this node to clients, as far as the node knows. */
  isHeld(): boolean;
  /** Whether the lease was ever held: before that, signaling does not know this node. */
  wasHeld(): boolean;
  /** Withdraws the lease for good. Resolves when NATS has received the message, or after a timeout. */
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
  /** False where NATS is disconnected. */
  publish(subject: string, text: string): boolean;
  /** Resolves when the published messages have arrived, at the latest after a second. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function holdLease({ bus, describe, works }: LeaseParts): Lease {
  let held = false;
  let everHeld = false;
  let withdrawn = false;
  const renew = async (): Promise<void> => {
    // A lease that is not renewed lapses, so a single late answer of coturn withdraws nothing.
    const isDue = withdrawn || (await works());
    const node = withdrawn ? { ...describe(), draining: withdrawn } : describe();
    const isPublished = isDue && bus.publish(turnNodeSubject, JSON.stringify(node));
    if (held !== (isPublished && !withdrawn)) log(held ? 'lease not held' : 'lease held');
    held = isPublished && !withdrawn;
    everHeld ||= held;
  };
  void renew();
  const timer = setInterval(() => void renew(), LEASE_INTERVAL_MS);
  return {
    isHeld: () => held,
    wasHeld: () => everHeld,
    async withdraw() {
      withdrawn = true;
      await renew();
      await bus.flush();
    },
    async close() {
      clearInterval(timer);
      await bus.close();
    },
  };
}
