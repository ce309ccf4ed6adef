/** Asks the home regions of rooms that are not in this one. SPEC rules HOME-1, HOME-3, HOME-6, HOME-8. */
import { MAX_SEAT_CHANGES, type HomeAnswer, type HomeRequest } from '@parley/protocol/home';
import { parseRoomId, type RegionId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { roomRecord, storedRecord } from '../adapters/room-record.ts';
import type { HomeBus, RoomRecord, RoomSeats, Seat, SeatHolder, StoredRoom } from '../core/ports.ts';
import type { AskedChange } from '../core/seat-plan.ts';
import type { Seated } from './seat-writer.ts';

export interface HomesParts {
  readonly bus: Pick<HomeBus, 'ask'>;
  /** This process. */
  readonly holder: SeatHolder;
  readonly limits: Pick<Limits, 'home.timeout'>;
  /** Whether messages of the region arrive. */
  readonly reaches: (region: RegionId) => boolean;
  /** Whether there is such a region: the operator lists it, or a message of it has arrived. */
  readonly exists: (region: RegionId) => boolean;
  /** The region that answers for the rooms of that one. */
  readonly actingFor: (home: RegionId) => RegionId;
  /** Whether no participant can resume into the seat any more. */
  readonly isAbandoned: (seats: RoomSeats, seat: Seat) => boolean;
  /** For metrics: `answered`, `unreachable`, or the code of a refusal. */
  readonly onAsked: (type: HomeRequest['type'], outcome: string) => void;
}

export type HomeFailure = {
  readonly ok: false;
  readonly code: 'ROOM_HOME_UNREACHABLE' | 'STORE_UNAVAILABLE' | 'ROOM_NOT_FOUND';
};

const UNREACHABLE: HomeFailure = { ok: false, code: 'ROOM_HOME_UNREACHABLE' };

type Asked = HomeRequest extends infer Each
  ? Each extends HomeRequest
    ? Omit<Each, 'pod' | 'boot'>
    : never
  : never;

export class Homes {
  readonly #parts: HomesParts;

  constructor(parts: HomesParts) {
    this.#parts = parts;
  }

  /** `isUsed`: the room is used, which extends its life. */
  async read(
    region: RegionId,
    name: string,
    isUsed: boolean,
  ): Promise<{ readonly ok: true; readonly found: StoredRoom | undefined } | HomeFailure> {
    const { actingFor, exists } = this.#parts;
    const isActing = actingFor(region) !== region;
    if (!isActing && !exists(region)) return { ok: true, found: undefined };
    const other = isActing ? { region } : {};
    const answer = await this.#ask(region, { type: 'read', name, ...other, ...(isUsed ? { isUsed } : {}) });
    if (answer?.type !== 'room') return failureOf(answer);
    const { found } = answer;
    if (found !== undefined && (found.record.name !== name || found.record.region !== region))
      return UNREACHABLE;
    // Its uses are recorded there, so here the time of the last write does not matter.
    return {
      ok: true,
      found: found && { ...found, record: roomRecord(found.record), writtenAt: Date.now() },
    };
  }

  /** Compare-and-set; `undefined` where the record has changed since it was read. */
  async update(
    { revision }: StoredRoom,
    record: RoomRecord,
  ): Promise<{ readonly ok: true; readonly updated: StoredRoom | undefined } | HomeFailure> {
    const answer = await this.#ask(record.region, { type: 'update', record: storedRecord(record), revision });
    if (answer?.type !== 'written') return failureOf(answer);
    if (answer.revision === undefined) return { ok: true, updated: undefined };
    return { ok: true, updated: { record, revision: answer.revision, writtenAt: Date.now() } };
  }

  async remove({
    record,
    revision,
  }: StoredRoom): Promise<{ readonly ok: true; readonly changed: boolean } | HomeFailure> {
    const answer = await this.#ask(record.region, { type: 'remove', record: storedRecord(record), revision });
    if (answer?.type !== 'written') return failureOf(answer);
    return { ok: true, changed: answer.revision === undefined };
  }

  async changeSeats(
    seats: RoomSeats,
    changes: readonly AskedChange[],
  ): Promise<Seated | 'unavailable' | 'unreachable'> {
    const first = await this.#changeSeats(seats, changes);
    if (typeof first === 'string' || first.seats === undefined) return first;
    const abandoned = first.seats.filter((seat) => this.#parts.isAbandoned(seats, seat));
    if (abandoned.length === 0) return first;
    // This pod has the room and knows whose seats no participant can resume into; a pod of the home region may not have it.
    const released = abandoned.map(({ participant, pod, boot }): AskedChange => ({
      act: 'release',
      participant,
      holder: { pod, boot },
      by: this.#parts.holder,
    }));
    const again = changes.filter((_change, at) => first.decisions[at] === 'full');
    const second = await this.#changeSeats(seats, [...released, ...again].slice(0, MAX_SEAT_CHANGES));
    if (typeof second === 'string') return second;
    let next = released.length;
    const decisions = first.decisions.map((decision) =>
      decision === 'full' ? (second.decisions[next++] ?? decision) : decision,
    );
    return { ...second, decisions };
  }

  async #changeSeats(
    { room, incarnation }: RoomSeats,
    asked: readonly AskedChange[],
  ): Promise<Seated | 'unavailable' | 'unreachable'> {
    const reference = parseRoomId(room);
    if (reference?.kind !== 'named') return 'unreachable';
    const changes = asked.map(({ by: _by, dueAt: _dueAt, ...change }) => change);
    const answer = await this.#ask(reference.region, { type: 'seats', room, incarnation, changes });
    if (answer?.type === 'seated') {
      const { outcomes, policy, seats } = answer;
      if (outcomes.length !== asked.length || policy.view.room !== room) return 'unreachable';
      return { decisions: outcomes, policy, ...(seats === undefined ? {} : { seats }) };
    }
    const { code } = failureOf(answer);
    // The room was deleted: no newcomer enters it, and there is no seat to be freed.
    if (code === 'ROOM_NOT_FOUND')
      return { decisions: asked.map(({ act }) => (act === 'take' ? 'gone' : 'taken')) };
    return code === 'STORE_UNAVAILABLE' ? 'unavailable' : 'unreachable';
  }

  async #ask(home: RegionId, asked: Asked): Promise<HomeAnswer | undefined> {
    const { bus, holder, limits, reaches, actingFor, onAsked } = this.#parts;
    const region = actingFor(home);
    const request: HomeRequest = { ...asked, ...holder };
    const answer = reaches(region) ? await bus.ask(region, request, limits['home.timeout']) : undefined;
    const outcome =
      answer?.type === 'refused' ? answer.code : answer === undefined ? 'unreachable' : 'answered';
    onAsked(asked.type, outcome);
    return answer;
  }
}

function failureOf(answer: HomeAnswer | undefined): HomeFailure {
  if (answer?.type !== 'refused') return UNREACHABLE;
  const { code } = answer;
  return code === 'STORE_UNAVAILABLE' || code === 'ROOM_NOT_FOUND' ? { ok: false, code } : UNREACHABLE;
}
