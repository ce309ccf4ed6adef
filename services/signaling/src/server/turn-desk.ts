/** Where people find STUN and TURN, and with which credentials. SPEC rules TURN-1 to TURN-7. */
import type { IceServer } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import type { TurnNode } from '@parley/protocol/turn';
import { iceServersFor, keyOf, stunUrlsOf } from '../adapters/turn-credentials.ts';
import type { TurnListener } from '../core/ports.ts';
import { TurnNodes } from '../core/turn-nodes.ts';
import type { Config } from './config.ts';

export interface TurnDeskParts {
  readonly config: Config;
  readonly openTurn: (listener: TurnListener) => void;
  readonly now: () => number;
}

export class TurnDesk {
  readonly #parts: TurnDeskParts;
  readonly #nodes: TurnNodes;

  constructor(parts: TurnDeskParts) {
    const { config, openTurn, now } = parts;
    const { secret } = config.turn;
    this.#parts = parts;
    this.#nodes = new TurnNodes(config.limits, { region: config.region, key: keyOf(secret ?? '') });
    openTurn({ onNode: (node) => this.#nodes.heard(node, now()) });
  }

  /** How many nodes could be offered. */
  count(): number {
    return this.#nodes.count(this.#parts.now());
  }

  offer(
    room: RoomId,
    participant: ParticipantId,
  ): { readonly iceServers: IceServer[]; readonly ttlS: number } {
    const { config, now } = this.#parts;
    const ttlMs = config.limits['turn.ttl'];
    const { secret } = config.turn;
    const nodes = this.#nodes.pick(room, now());
    const addresses = nodes.length > 0 ? addressesOf(nodes) : config.turn;
    const iceServers = iceServersFor(participant, { ...addresses, secret, ttlMs }, Date.now());
    return { iceServers, ttlS: Math.floor(ttlMs / 1000) };
  }
}

/** Several may be behind one address, where the edge leads to them all. */
function addressesOf(nodes: readonly TurnNode[]) {
  const turnUrls = [...new Set(nodes.flatMap(({ urls }) => urls))];
  return { turnUrls, stunUrls: stunUrlsOf(turnUrls) };
}
