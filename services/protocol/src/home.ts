/**
 * Requests of pods to the home region of a named room, and its answers: JSON, as requests of core NATS. One pod of the home region answers. SPEC rules
 * HOME-1 to HOME-16.
 */
import { Type, type Static } from 'typebox';
import { RoomPolicy } from './bus.ts';
import { ParticipantId, PodId, RegionId, RoomId, RoomName } from './ids.ts';
import { CoOwners, Mutes } from './people.ts';
import { Incarnation } from './tokens.ts';
import type { MessageOf } from './message-of.ts';

/** A process of a pod, as a seat names it. */
const Holder = { pod: PodId, boot: Type.Integer({ minimum: 0 }) };
const Revision = Type.Integer({ minimum: 0 });
const UnixMs = Type.Integer({ minimum: 0 });

/** Of one record. */
export const MAX_BANS = 500;
export const MAX_KICKED = 1000;

/** A named room as its home region keeps it. Rooms that were written before moderation existed have no optional fields. */
export const RoomRecord = Type.Object({
  name: RoomName,
  region: RegionId,
  cap: Type.Integer({ minimum: 1 }),
  hardCap: Type.Optional(Type.Boolean({ description: 'The cap is kept exactly, by seats.' })),
  locked: Type.Boolean(),
  lobby: Type.Optional(Type.Boolean()),
  bans: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ maxLength: 64 }),
        name: Type.String({ maxLength: 256 }),
        at: UnixMs,
        device: Type.Optional(Type.String({ maxLength: 64 })),
        network: Type.Optional(Type.String({ maxLength: 64 })),
      }),
      { maxItems: MAX_BANS },
    ),
  ),
  kicked: Type.Optional(
    Type.Array(
      Type.Object({
        participant: Type.String({ maxLength: 32 }),
        until: UnixMs,
        device: Type.Optional(Type.String({ maxLength: 64 })),
      }),
      { maxItems: MAX_KICKED, description: 'For `kick.keep`.' },
    ),
  ),
  mutes: Type.Optional(Mutes),
  coOwners: Type.Optional(CoOwners),
  calls: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How often an owner ended the call for all participants.' }),
  ),
  idleMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Of a room that was made for a call: it is deleted when it was not used for this time. Others have `room.idleTimeout`.',
    }),
  ),
  ownerKeyHash: Type.String({ maxLength: 64, description: 'SHA-256 of the owner key, base64url.' }),
  createdAt: UnixMs,
});

/** A change of one seat, on behalf of the process that asks or of `holder`. */
export const SeatChange = Type.Object({
  act: Type.Union([
    Type.Literal('take', { description: 'For a participant that is about to enter.' }),
    Type.Literal('claim', { description: 'For a participant that has entered, as after a resume.' }),
    Type.Literal('free', { description: 'The participant left; only a seat of the pod that asks.' }),
    Type.Literal('release', { description: 'No participant can resume into the seat that `holder` has.' }),
  ]),
  participant: ParticipantId,
  owner: Type.Optional(Type.Boolean({ description: 'An owner may use one seat more.' })),
  holder: Type.Optional(Type.Object(Holder)),
});
export type SeatChange = Static<typeof SeatChange>;
/** Of one request. */
export const MAX_SEAT_CHANGES = 500;

const asker = { ...Holder };

/** `region`: the home region of the room, where another one is asked in its place. `isUsed`: a ticket, an owner or participants in the room use it, which extends its life. */
export const HomeRead = Type.Object({
  type: Type.Literal('read'),
  ...asker,
  name: RoomName,
  region: Type.Optional(RegionId),
  isUsed: Type.Optional(Type.Boolean()),
});
/** Compare-and-set: `revision` is the one that was read. Only what an owner may change differs from the stored record. */
export const HomeUpdate = Type.Object({
  type: Type.Literal('update'),
  ...asker,
  record: RoomRecord,
  revision: Revision,
});
export const HomeRemove = Type.Object({
  type: Type.Literal('remove'),
  ...asker,
  record: RoomRecord,
  revision: Revision,
});
/** Decided in order, in one write or a few. */
export const HomeSeats = Type.Object({
  type: Type.Literal('seats'),
  ...asker,
  room: RoomId,
  incarnation: Incarnation,
  changes: Type.Array(SeatChange, { minItems: 1, maxItems: MAX_SEAT_CHANGES }),
});
/** The newest version of a record, from the region that answers for the home to a follower, or to that region from one that was replaced. Without `record` the room was removed. */
export const HomeFollow = Type.Object({
  type: Type.Literal('follow'),
  ...asker,
  home: RegionId,
  name: RoomName,
  revision: Revision,
  record: Type.Optional(RoomRecord),
});
/**
 * Which versions a region has of the rooms whose names come after `after`, in the order of names. The one that answers for the home names, of rooms that it wrote, the
 * version of another region that its own includes, or with `versions` its own.
 */
export const HomeCompare = Type.Object({
  type: Type.Literal('compare'),
  ...asker,
  home: RegionId,
  after: Type.Optional(RoomName),
  versions: Type.Optional(Type.Boolean()),
});
/**
 * Published by each pod that knows of promotions, once a second: which region answers for the rooms of `home`. The highest term of a home counts, of
 * equal ones the region that comes last by name.
 */
export const HomeTerm = Type.Object({
  home: RegionId,
  term: Type.Integer({ minimum: 1, maximum: 4096 }),
  by: RegionId,
});
export type HomeTerm = Static<typeof HomeTerm>;
export const HomeTerms = Type.Object({
  type: Type.Literal('terms'),
  ...asker,
  terms: Type.Array(HomeTerm, { minItems: 1, maxItems: 1000 }),
});
export type HomeTerms = Static<typeof HomeTerms>;
/** Whether the region that is asked reaches that region: before a promotion. */
export const HomeReach = Type.Object({ type: Type.Literal('reach'), ...asker, region: RegionId });
/** A region is about to be promoted: the one that is asked stores the term, unless it has a higher one. */
export const HomePromote = Type.Object({ type: Type.Literal('promote'), ...asker, term: HomeTerm });
export const HOME_REQUESTS = {
  read: HomeRead,
  update: HomeUpdate,
  remove: HomeRemove,
  seats: HomeSeats,
  follow: HomeFollow,
  compare: HomeCompare,
  terms: HomeTerms,
  reach: HomeReach,
  promote: HomePromote,
} as const;
export type HomeRequest = MessageOf<typeof HOME_REQUESTS>;

/** The answer to `read`, without a record where no such room exists. */
export const HomeRoom = Type.Object({
  type: Type.Literal('room'),
  found: Type.Optional(Type.Object({ record: RoomRecord, revision: Revision })),
});
/** The answer to `update` and `remove`. No `revision`: the record had changed, and nothing was written; after `remove` it is 0. */
export const HomeWritten = Type.Object({ type: Type.Literal('written'), revision: Type.Optional(Revision) });
/** The answer to `seats`: an outcome for each change, and the policy as read after they were decided. */
export const HomeSeated = Type.Object({
  type: Type.Literal('seated'),
  outcomes: Type.Array(
    Type.Union([
      Type.Literal('taken'),
      Type.Literal('held', { description: 'The participant had the seat already.' }),
      Type.Literal('full'),
    ]),
  ),
  policy: RoomPolicy,
  /** Who has the seats, where one was not given: the pod that asks may know which of them no participant can resume into. */
  seats: Type.Optional(Type.Array(Type.Object({ participant: ParticipantId, ...Holder }))),
});
/** The answer to `follow`: the follower has stored this version or a newer one. `revision`: of the one that it has. */
export const HomeFollowed = Type.Object({ type: Type.Literal('followed'), revision: Revision });
/** The answer to `reach`. */
export const HomeReached = Type.Object({ type: Type.Literal('reached'), reaches: Type.Boolean() });
/** The answer to `promote`: the term that is stored now. */
export const HomePromoted = Type.Object({ type: Type.Literal('promoted'), term: HomeTerm });
/** Of one answer: half of the largest message of NATS. */
export const MAX_COMPARED = 5000;
/** The answer to `compare`. `isLast`: there are no rooms after these. */
export const HomeCompared = Type.Object({
  type: Type.Literal('compared'),
  rooms: Type.Array(Type.Tuple([RoomName, Revision]), { maxItems: MAX_COMPARED }),
  isLast: Type.Boolean(),
});
/** `ROOM_NOT_FOUND`: no such room, or another incarnation of it. `NOT_HOME`: another region answers for this home, by its term. */
export const HomeRefused = Type.Object({
  type: Type.Literal('refused'),
  code: Type.Union([
    Type.Literal('STORE_UNAVAILABLE'),
    Type.Literal('ROOM_NOT_FOUND'),
    Type.Literal('POD_FULL'),
    Type.Literal('BAD_REQUEST'),
    Type.Literal('NOT_HOME'),
  ]),
});
export type RoomRecord = Static<typeof RoomRecord>;
export const HOME_ANSWERS = {
  room: HomeRoom,
  written: HomeWritten,
  seated: HomeSeated,
  followed: HomeFollowed,
  compared: HomeCompared,
  reached: HomeReached,
  promoted: HomePromoted,
  refused: HomeRefused,
} as const;
export type HomeAnswer = MessageOf<typeof HOME_ANSWERS>;

/**
 * Revisions of a record under one term are below those of the next: `term * TERM_REVISIONS` plus the revision of the store. So the newest version is the one
 * with the highest revision, in whichever region it was written.
 */
export const TERM_REVISIONS = 2 ** 40;
