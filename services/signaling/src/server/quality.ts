/** What participants report of their media, as histograms for operators. SPEC rules QUAL-1 to QUAL-4. */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Quality } from '@parley/protocol/client-messages';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { Bucket } from '../core/buckets.ts';
import { score } from '../core/rendezvous.ts';
import { meanOpinionScore } from './e-model.ts';

/** Reports of one socket that are counted within `quality.interval`. */
const REPORTS = 2;

type QualityLimits = Pick<Limits, 'quality.interval' | 'quality.percent'>;

/** How often a participant is asked for a report, in ms, always the same ones; `undefined`: not at all. */
export function reportEveryMs(participant: ParticipantId, limits: QualityLimits): number | undefined {
  return score('quality', participant) % 100 < limits['quality.percent']
    ? limits['quality.interval']
    : undefined;
}

/** The bucket of one socket. That of a resumed one has a report less, so that resumes do not multiply them. */
export function qualityReports(limits: QualityLimits, now: number, kind: 'enter' | 'resume'): Bucket {
  const bucket = new Bucket((1000 * REPORTS) / limits['quality.interval'], REPORTS, now);
  if (kind === 'resume') bucket.take(1, now);
  return bucket;
}

const PATHS = ['mesh', 'turn', 'relay'] as const;

export class QualityMetrics {
  readonly #mos: Histogram<'path'>;
  readonly #roundTrip: Histogram<'path'>;
  readonly #loss: Histogram<'path'>;
  readonly #setup: Histogram<'path'>;
  readonly #freezes: Counter<'path'>;
  readonly #freezeReports: Counter<'path'>;
  readonly #reconnects: Counter<'path'>;

  constructor(registry: Registry) {
    const labelNames = ['path'] as const;
    const registers = [registry];
    const histogram = (name: string, help: string, buckets: number[]): Histogram<'path'> =>
      new Histogram({ name, help, buckets, labelNames, registers });
    const counter = (name: string, help: string): Counter<'path'> =>
      new Counter({ name, help, labelNames, registers });
    this.#mos = histogram(
      'parley_call_mos',
      'Mean opinion score of voices, estimated by ITU-T G.107 from reports of participants',
      // From the worst to the best; G.107, annex B, begins another word for satisfaction at 2.6, 3.1, 3.6, 4 and 4.3.
      [1, 1.5, 2, 2.6, 3.1, 3.6, 4, 4.2, 4.3, 4.41],
    );
    this.#roundTrip = histogram(
      'parley_call_round_trip_seconds',
      'Round trip to other participants, or to the relay, as participants report it',
      [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2],
    );
    this.#loss = histogram(
      'parley_call_loss_ratio',
      'Share of lost packets of voices, as participants report it',
      [0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    );
    this.#setup = histogram(
      'parley_call_setup_seconds',
      'Time from a join, the end of a wait, or the arrival of another participant, to the first media, as participants report it',
      [0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30],
    );
    this.#freezes = counter(
      'parley_call_freezes_total',
      'Pictures that stood still, as participants report them',
    );
    this.#freezeReports = counter(
      'parley_call_freeze_reports_total',
      'Reports that say how many pictures stood still; not all browsers do',
    );
    this.#reconnects = counter(
      'parley_call_reconnects_total',
      'Resumed sockets, as participants report them',
    );
    for (const path of PATHS) {
      for (const histogram of [this.#mos, this.#roundTrip, this.#loss, this.#setup]) histogram.zero({ path });
      for (const counter of [this.#freezes, this.#freezeReports, this.#reconnects]) counter.inc({ path }, 0);
    }
  }

  observe(report: Quality): void {
    const { path, setupMs, roundTripMs, lossPermille, bufferMs = 0, freezes, reconnects } = report;
    const label = { path };
    if (setupMs !== undefined) this.#setup.observe(label, setupMs / 1000);
    if (roundTripMs !== undefined) this.#roundTrip.observe(label, roundTripMs / 1000);
    if (lossPermille !== undefined) this.#loss.observe(label, lossPermille / 1000);
    if (freezes !== undefined) {
      this.#freezes.inc(label, freezes);
      this.#freezeReports.inc(label);
    }
    this.#reconnects.inc(label, reconnects);
    if (roundTripMs === undefined || lossPermille === undefined) return;
    const wayMs = path === 'relay' ? roundTripMs : roundTripMs / 2;
    this.#mos.observe(label, meanOpinionScore({ delayMs: wayMs + bufferMs, loss: lossPermille / 1000 }));
  }
}
