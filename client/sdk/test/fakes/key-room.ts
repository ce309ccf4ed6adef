/** Participants of one room who exchange keys over a service that sees, and may change, all that they send. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ParticipantId } from '@parley/protocol/ids';
import type { KeySignal } from '../../src/ports.ts';
import { KeyExchange } from '../../src/sfu/e2ee/key-exchange.ts';
import { newSecret } from '../../src/sfu/secret.ts';
import { fakeClock, type FakeClock } from './clock.ts';

export const ROOM = 'k7mq-2x9d-htw4-e0vn';
export const SECRET = newSecret(Uint8Array.from({ length: 16 }, (_, at) => at));

export interface Sent {
  readonly from: ParticipantId;
  readonly to: ParticipantId;
  readonly message: KeySignal;
}

export interface Party {
  readonly id: ParticipantId;
  readonly instance: string;
  readonly keys: KeyExchange;
  publishes: boolean;
}

export interface KeyRoom {
  readonly clock: FakeClock;
  /** All that was sent, also what the service dropped. */
  readonly sent: Sent[];
  /** What the service does with a message: the messages that are delivered for it. */
  service: (sent: Sent) => readonly Sent[];
  /** Otherwise a message is not even sent. */
  reaches: (from: ParticipantId, to: ParticipantId) => boolean;
  /** It does not follow the roster yet. */
  enter(name: string, how?: { readonly secret?: string; readonly instance?: string }): Promise<Party>;
  /** Each of them sees exactly these in the room, and wants the media of all others. */
  meet(...parties: readonly Party[]): void;
  /** Real time passes until that is so; throws after 5 s. */
  until(what: string, is: () => boolean | Promise<boolean>): Promise<void>;
}

export function keyRoom(): KeyRoom {
  const clock = fakeClock();
  const parties = new Map<ParticipantId, Party>();
  const room: KeyRoom = {
    clock,
    sent: [],
    service: (sent) => [sent],
    reaches: () => true,
    async enter(name, { secret = SECRET, instance = `0000000${name}` } = {}) {
      const id: ParticipantId = name;
      const party: { publishes: boolean } = { publishes: true };
      const keys = await KeyExchange.of({
        subtle: globalThis.crypto.subtle,
        clock,
        random: {
          fraction: Math.random,
          bytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)),
        },
        room: ROOM,
        secret,
        me: id,
        instance,
        send: (to, message) => {
          if (!room.reaches(id, to)) return false;
          deliver({ from: id, to, message });
          return true;
        },
        isPublishing: () => party.publishes,
      });
      const entered = Object.assign(party, { id, instance, keys });
      parties.set(id, entered);
      return entered;
    },
    meet(...here) {
      for (const { id, keys } of here) {
        const others = here.map((one) => one.id).filter((one) => one !== id);
        keys.follow(new Set(others), others);
      }
    },
    async until(what, is) {
      const late = performance.now() + 5000;
      while (!(await is())) {
        if (performance.now() > late) throw new Error(`not within 5 s: ${what}`);
        await pause(2);
      }
    },
  };
  const deliver = (sent: Sent): void => {
    room.sent.push(sent);
    for (const { from, to, message } of room.service(sent)) void parties.get(to)?.keys.receive(from, message);
  };
  return room;
}

/** What comes of decrypting while the clock stands still: a frame waits until its key is here. */
export const withKey = (opening: Promise<Uint8Array | undefined>): Promise<unknown> =>
  Promise.race([opening, pause(5000, 'not within 5 s', { ref: false })]);

/** What comes of decrypting when the frame has waited for its key, as long as it does. */
export async function afterWaiting(
  room: KeyRoom,
  opening: Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  let over = false;
  void opening.finally(() => (over = true));
  await room.until('a frame is decrypted or refused', async () => {
    if (!over) await room.clock.advance(20);
    return over;
  });
  return opening;
}

/** The code of all of them, once it is the same; time passes meanwhile. */
export async function commonCode(room: KeyRoom, parties: readonly Party[]): Promise<string> {
  let codes: readonly (string | undefined)[] = [];
  await room.until('one code', async () => {
    await room.clock.advance(100);
    codes = await Promise.all(parties.map(async ({ keys }) => (await keys.code())?.code));
    return new Set(codes).size === 1 && codes[0] !== undefined;
  });
  return codes[0] ?? '';
}
