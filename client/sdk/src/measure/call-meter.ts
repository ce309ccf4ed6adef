/** Measures what a call receives from and sends to all participants, over links and through relays. */
import type { CallFigures } from '../call.ts';
import { Rates, type Count, type Counts, type TrackFigures } from './figures.ts';
import type { Clock, RelayCounts, RelayedRoom } from '../ports.ts';

/** The media of one participant: over the link, or through relays (`relayed`) if those tracks are shown. */
export interface MeasuredMedia {
  readonly participant: string;
  readonly link: { counts(): Promise<Counts> | undefined } | undefined;
  readonly relayed: { counts(): readonly Count[] } | undefined;
}

export class CallMeter {
  readonly #rates = new Rates();

  async measure(
    paths: readonly MeasuredMedia[],
    room: Pick<RelayedRoom, 'measure'> | null,
    clock: Clock,
  ): Promise<CallFigures> {
    const people = await Promise.all(
      paths.map(async ({ participant, link, relayed }) => {
        const linked = await link?.counts();
        return {
          participant,
          received: relayed?.counts() ?? linked?.received ?? [],
          sent: linked?.sent ?? [],
        };
      }),
    );
    const relay = (await room?.measure()) ?? null;
    const now = clock.now();
    const rates = (of: string, counts: readonly Count[]): TrackFigures[] =>
      counts.map((count, nth) => this.#rates.of(`${of} ${count.source} ${nth}`, count, now));
    const figures = {
      people: people.map(({ participant, received, sent }) => ({
        participant,
        received: rates(`from ${participant}`, received),
        sent: rates(`to ${participant}`, sent),
      })),
      relay: relay && {
        transport: relay.transport,
        roundTripMs: relay.roundTripMs,
        lossPercent: lossPercent(relay),
        sent: rates('sfu', relay.sent),
      },
    };
    this.#rates.settle();
    return figures;
  }
}

const lossPercent = ({ packets, lost }: RelayCounts): number | null =>
  packets === 0 ? null : Math.round((1000 * Math.max(0, lost)) / packets) / 10;
