/** The state that a reload keeps: enough to return as the same participant, and the regions of the installation. */
import { decode } from '@parley/protocol/decode';
import { Generation } from '@parley/protocol/client-messages';
import { RegionList } from '@parley/protocol/http';
import { ParticipantId } from '@parley/protocol/ids';
import { Type, type Static, type TSchema } from 'typebox';
import type { CallMemory, CallOptions } from '../call.ts';
import type { Clock } from '../ports.ts';

const Remembered = Type.Object({
  room: Type.String(),
  participant: ParticipantId,
  generation: Generation,
  resume: Type.String({ maxLength: 2048 }),
  socketUrl: Type.String({ maxLength: 2048 }),
  /** 0: not raised. */
  hand: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 })),
});
export type Remembered = Static<typeof Remembered>;

/** Before the first welcome: the place that the service keeps for the join. */
const RememberedPlace = Type.Object({
  room: Type.String(),
  slot: Type.String({ maxLength: 64 }),
  /** Unix time in ms. */
  untilMs: Type.Number(),
});
export type RememberedPlace = Static<typeof RememberedPlace>;

/** While the `enter` waits for its turn on its socket: a reload waits with the same ticket, and needs no other place. */
const RememberedTicket = Type.Object({
  room: Type.String(),
  ticket: Type.String({ maxLength: 2048 }),
  socketUrl: Type.String({ maxLength: 2048 }),
  /** When the ticket expires: Unix time in ms. */
  untilMs: Type.Number(),
});
export type RememberedTicket = Static<typeof RememberedTicket>;

/** The region is the one that was used last. */
const RememberedRegions = Type.Object({ api: Type.String(), ...RegionList.properties });
export type RememberedRegions = Static<typeof RememberedRegions>;

/** `null` if nothing usable is stored for this installation. */
export function recallRegions(memory: CallMemory | undefined, api: string): RememberedRegions | null {
  const known = stored(RememberedRegions, memory);
  return known?.api === api ? known : null;
}

export function rememberRegions(memory: CallMemory | undefined, value: RememberedRegions | null): void {
  write(memory, value);
}

/** `null` if nothing usable is stored for this room. Other scripts can write the storage, so the value is checked. */
export const recall = (memory: CallMemory | undefined, room: string): Remembered | null =>
  read(Remembered, memory, room);

export const recallPlace = (memory: CallMemory | undefined, room: string): RememberedPlace | null =>
  read(RememberedPlace, memory, room);

export const recallTicket = (memory: CallMemory | undefined, room: string): RememberedTicket | null =>
  read(RememberedTicket, memory, room);

function read<Schema extends typeof Remembered | typeof RememberedPlace | typeof RememberedTicket>(
  schema: Schema,
  memory: CallMemory | undefined,
  room: string,
): Static<Schema> | null {
  const known = stored(schema, memory);
  return known?.room === room ? known : null;
}

function stored<Schema extends TSchema>(
  schema: Schema,
  memory: CallMemory | undefined,
): Static<Schema> | null {
  try {
    const decoded = decode(schema, JSON.parse(memory?.read() ?? 'null'));
    return decoded.ok ? decoded.message : null;
  } catch {
    return null;
  }
}

export function remember(
  memory: CallMemory | undefined,
  value: Remembered | RememberedPlace | RememberedTicket | null,
): void {
  write(memory, value);
}

/** `expiresAt` on `clock`. */
export function rememberTicket(
  { memory, room }: Pick<CallOptions, 'memory' | 'room'>,
  { text, expiresAt, socketUrl }: { text: string; expiresAt: number; socketUrl: string },
  clock: Clock,
): void {
  const untilMs = clock.wall() + expiresAt - clock.now();
  remember(memory, { room, ticket: text, socketUrl, untilMs });
}

/** Storage may be full or blocked: the call continues without it. */
function write(memory: CallMemory | undefined, value: object | null): void {
  try {
    memory?.write(value === null ? null : JSON.stringify(value));
  } catch {
    // Then a reload is a new participant, and knows one region.
  }
}
