/** Seats of rooms with a cap in the region's JetStream KV: one value per room. SPEC rules MOD-7, ROOM-10. */
import { Type } from 'typebox';
import type { NatsConnection } from '@nats-io/transport-node';
import { decode } from '@parley/protocol/decode';
import { PodId } from '@parley/protocol/ids';
import { SEATS_BUCKET } from '@parley/protocol/subjects';
import type { SeatPlan, SeatStore } from '../core/ports.ts';
import { kvBucket, type KvOptions } from './kv-bucket.ts';

/**
 * Compact but readable: 1,000 seats, the most that a room may have, take 44 to 72 kB depending on the length of pod names, and are written at each
 * change.
 */
const PlanSchema = Type.Object({
  incarnation: Type.String(),
  seats: Type.Record(Type.String(), Type.Tuple([PodId, Type.Integer()])),
  // Plans that were written before seats rested have none.
  resting: Type.Optional(Type.Record(Type.String(), Type.Integer())),
});

export function kvSeats(connection: NatsConnection, options: KvOptions): SeatStore {
  const { attempt, write, remove } = kvBucket(connection, SEATS_BUCKET, options);
  return {
    read: (name) =>
      attempt(async (kv) => {
        const entry = await kv.get(name);
        if (entry === null) return { ok: true, plan: undefined, revision: 0 };
        const plan = entry.operation === 'PUT' ? parse(entry.string()) : undefined;
        return { ok: true, plan, revision: entry.revision };
      }),
    write: (name, plan, revision) =>
      attempt(async () => {
        const text = JSON.stringify({
          incarnation: plan.incarnation,
          seats: Object.fromEntries(
            plan.seats.map(({ participant, pod, boot }) => [participant, [pod, boot]]),
          ),
          ...(plan.resting?.length ? { resting: Object.fromEntries(plan.resting) } : {}),
        });
        return { ok: true, revision: await write(name, text, revision) };
      }),
    forget: (name, revision) =>
      attempt(async (kv) => {
        await remove(kv, name, revision);
        return { ok: true };
      }),
  };
}

function parse(text: string): SeatPlan | undefined {
  const decoded = decode(PlanSchema, JSON.parse(text));
  if (!decoded.ok) return undefined;
  const { incarnation, seats, resting } = decoded.message;
  return {
    incarnation,
    ...(resting === undefined ? {} : { resting: Object.entries(resting) }),
    seats: Object.entries(seats).map(([participant, [pod, boot]]) => ({ participant, pod, boot })),
  };
}
