/** The TURN nodes, and which of them a room is offered. SPEC rules TURN-5 to TURN-7. */
import type { RegionId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { TurnNode } from '@parley/protocol/turn';
import { Leases } from './leases.ts';
import { score } from './rendezvous.ts';

type TurnLimits = Pick<Limits, 'turn.leaseDuration' | 'turn.nodes' | 'turn.offered'>;

/** What a pod compares nodes with. */
export interface Own {
  readonly region: RegionId;
  /** Identifies the secret from which this pod makes credentials. */
  readonly key: string;
}

export class TurnNodes {
  readonly #leases: Leases<TurnNode>;
  readonly #max: number;
  readonly #own: Own;

  constructor(limits: TurnLimits, own: Own) {
    this.#leases = new Leases({ durationMs: limits['turn.leaseDuration'], max: limits['turn.nodes'] });
    this.#max = limits['turn.offered'];
    this.#own = own;
  }

  /** The lease of a node arrived. `now` in ms, from a monotonic clock. */
  onLease(node: TurnNode, now: number): void {
    this.#leases.renew(nameOf(node), node, now);
  }

  /** How many nodes could be offered. */
  count(now: number): number {
    return this.#free(now).length;
  }

  /** The same nodes for all participants of a room on every pod of the region, in order of preference. */
  pick(room: RoomId, now: number): TurnNode[] {
    const { region } = this.#own;
    const ranked = this.#free(now).map((node) => ({
      node,
      isNear: node.region === region,
      preference: score(room, nameOf(node)),
    }));
    ranked.sort(
      (one, other) => Number(other.isNear) - Number(one.isNear) || other.preference - one.preference,
    );
    return ranked.slice(0, this.#max).map(({ node }) => node);
  }

  #free(now: number): TurnNode[] {
    return this.#leases
      .living(now)
      .filter(({ key, allocations, capacity }) => key === this.#own.key && allocations < capacity);
  }
}

/** Nodes of two clusters may have the same name. */
const nameOf = ({ region, node }: TurnNode): string => `${region}/${node}`;
