/** Reports to the pod how the media of the call arrives, if it asks for that, for dashboards of operators. SPEC rules QUAL-1 and QUAL-2. */
import type { Quality } from '@parley/protocol/client-messages';
import type { ParticipantId } from '@parley/protocol/ids';
import type { CallFigures, Link } from '../call.ts';
import type { Clock } from '../ports.ts';

export interface QualityReportsParts {
  readonly clock: Clock;
  /** Since the call before; only reports call it. */
  readonly measure: () => Promise<CallFigures>;
  /** Of all other participants. */
  readonly links: () => readonly (readonly [ParticipantId, Link])[];
  readonly isConnected: () => boolean;
  /** `false`: it was not sent. */
  readonly send: (report: Quality) => boolean;
}

/** How the media of a participant arrives, or arrived last. */
interface Way {
  readonly path: Quality['path'];
  readonly roundTripMs: number | null;
}

const PATHS = { direct: 'mesh', turn: 'turn', sfu: 'relay' } as const;

export class QualityReports {
  readonly #parts: QualityReportsParts;
  /** Of those who are there. */
  #ways: ReadonlyMap<ParticipantId, Way> = new Map();
  /** When the way to the first media began. */
  #startedAt: number;
  /** The welcome restarts it: the participant waited for an owner or for its turn before. */
  #hasWaited = false;
  /** The arrival of another participant restarts it. */
  #isAlone = false;
  #setupMs: number | undefined;
  #isSetupSent = false;
  #isWelcomed = false;
  #reconnects = 0;
  #everyMs: number | undefined;
  #cancel: () => void = () => {};

  constructor(parts: QualityReportsParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
  }

  /** The participant is in a lobby, or waits for its turn. */
  waits(): void {
    this.#hasWaited = true;
  }

  /** After the roster was followed. `everyMs`: how often the pod asks for a report; `undefined`: not at all. */
  welcomed(everyMs: number | undefined): void {
    if (this.#isWelcomed) this.#reconnects += 1;
    else {
      if (this.#hasWaited) this.#startedAt = this.#parts.clock.now();
      this.#isAlone = this.#parts.links().length === 0;
    }
    this.#isWelcomed = true;
    // A resume does not delay the report that is due.
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.#cancel();
    if (everyMs !== undefined) this.#wait(everyMs);
  }

  /** After each change of the links. */
  follow(): void {
    // Most participants are not asked.
    if (this.#isWelcomed && this.#everyMs === undefined) return;
    const links = this.#parts.links();
    if (this.#isAlone && links.length > 0) {
      this.#startedAt = this.#parts.clock.now();
      this.#isAlone = false;
    }
    const ways = new Map<ParticipantId, Way>();
    for (const [participant, link] of links) {
      const way = wayOf(link) ?? this.#ways.get(participant);
      if (way !== undefined) ways.set(participant, way);
    }
    this.#ways = ways;
    if (ways.size > 0) this.#setupMs ??= this.#parts.clock.now() - this.#startedAt;
  }

  close(): void {
    this.#cancel();
  }

  #wait(everyMs: number): void {
    this.#cancel = this.#parts.clock.after(everyMs, () => {
      this.#wait(everyMs);
      // What is not reported now is part of the next report.
      if (this.#parts.isConnected()) void this.#report();
    });
  }

  async #report(): Promise<void> {
    const figures = await this.#parts.measure().catch(() => undefined);
    const report = figures && reportOf(figures, this.#ways);
    if (report === undefined) return;
    const setup = this.#isSetupSent ? {} : within('setupMs', this.#setupMs);
    const reconnects = Math.min(this.#reconnects, MOST.reconnects);
    if (!this.#parts.send({ ...report, ...setup, reconnects })) return;
    this.#isSetupSent ||= this.#setupMs !== undefined;
    this.#reconnects = 0;
  }
}

const wayOf = (link: Link): Way | undefined =>
  link.status === 'connected' ? { path: PATHS[link.path], roundTripMs: link.roundTripMs } : undefined;

/** As in the schema of the message. */
const MOST = {
  setupMs: 600_000,
  roundTripMs: 60_000,
  lossPermille: 1000,
  bufferMs: 60_000,
  freezes: 300,
  reconnects: 100,
} as const;

type Measured = Omit<Quality, 'setupMs' | 'reconnects'>;

/** `undefined`: no voice arrived whose way is known. */
export function reportOf(
  { people, relay }: CallFigures,
  ways: ReadonlyMap<ParticipantId, Way>,
): Measured | undefined {
  const heard = people.flatMap(({ participant, received }) => {
    const way = ways.get(participant);
    // Without packets there is no share of lost ones.
    const voices = received.filter(
      ({ source, lossPercent }) => source === 'microphone' && lossPercent !== null,
    );
    return way === undefined || voices.length === 0 ? [] : { way, voices, received };
  });
  if (heard.length === 0) return undefined;
  const path = worst(heard.map(({ way }) => way.path));
  const voices = heard.flatMap((one) => one.voices);
  const roundTrips = path === 'relay' ? [relay?.roundTripMs] : heard.map(({ way }) => way.roundTripMs);
  const freezes = heard.flatMap(({ received }) => received.map((track) => track.freezes));
  return {
    type: 'quality',
    path,
    ...within('roundTripMs', mean(roundTrips)),
    ...within('lossPermille', tenfold(mean(voices.map(({ lossPercent }) => lossPercent)))),
    ...within('bufferMs', mean(voices.map(({ bufferMs }) => bufferMs))),
    ...within('freezes', sum(freezes)),
  };
}

function worst(paths: readonly Quality['path'][]): Quality['path'] {
  if (paths.includes('relay')) return 'relay';
  return paths.includes('turn') ? 'turn' : 'mesh';
}

type Unknown = number | null | undefined;

const numbers = (values: readonly Unknown[]): number[] =>
  values.filter((value) => value !== null && value !== undefined);

function sum(values: readonly Unknown[]): number | undefined {
  const some = numbers(values);
  return some.length === 0 ? undefined : some.reduce((all, one) => all + one, 0);
}

function mean(values: readonly Unknown[]): number | undefined {
  const all = sum(values);
  return all === undefined ? undefined : all / numbers(values).length;
}

const tenfold = (value: number | undefined): number | undefined => value && 10 * value;

function within(
  name: keyof typeof MOST,
  value: number | undefined,
): Partial<Record<keyof typeof MOST, number>> {
  return value === undefined ? {} : { [name]: Math.max(0, Math.min(MOST[name], Math.round(value))) };
}
