/** Offers STUN and TURN servers with credentials. SPEC rules TURN-1 to TURN-11. */
import type { IceOffer, IceServer } from '@parley/protocol/http';
import type { RoomId } from '@parley/protocol/ids';
import type { VisitorId } from '@parley/protocol/pages';
import type { TurnNode } from '@parley/protocol/turn';
import {
  createTurnCredentials,
  keyOf,
  stunUrlsOf,
  type TurnServerFor,
} from '../adapters/turn-credentials.ts';
import { AddressBuckets } from '../core/buckets.ts';
import type { TurnListener } from '../core/ports.ts';
import { TurnNodes } from '../core/turn-nodes.ts';
import type { Config } from './config.ts';
import { networkOf } from './visitor-marks.ts';

export interface IceOffersParts {
  readonly config: Config;
  readonly openTurn: (listener: TurnListener) => void;
  readonly now: () => number;
  /** By `HeardClock`. */
  readonly leaseNow: () => number;
}

export class IceOffers {
  readonly #parts: IceOffersParts;
  readonly #nodes: TurnNodes;
  readonly #requests: AddressBuckets;
  readonly #turnServerFor: TurnServerFor | undefined;

  constructor(parts: IceOffersParts) {
    const { config, openTurn, now, leaseNow } = parts;
    const { secret } = config.turn;
    this.#parts = parts;
    this.#turnServerFor = secret === undefined ? undefined : createTurnCredentials(secret);
    this.#nodes = new TurnNodes(config.limits, { region: config.region, key: keyOf(secret ?? '') });
    const perMinute = config.limits['address.iceRequests'];
    this.#requests = new AddressBuckets(perMinute / 60, perMinute, now());
    openTurn({ onNode: (node) => this.#nodes.onLease(node, leaseNow()) });
  }

  /** How many nodes could be offered. */
  count(): number {
    return this.#nodes.count(this.#parts.leaseNow());
  }

  /** The servers for a room or visitor, with credentials that count for the client's network. SPEC rules TURN-1, TURN-2, TURN-9. */
  offer(room: RoomId, address: string): IceOffer {
    const { stunUrls, turnUrls } = this.#addresses(room);
    const ttlMs = this.#parts.config.limits['turn.ttl'];
    const servers = stunServers(stunUrls);
    if (this.#turnServerFor === undefined || turnUrls.length === 0)
      return { iceServers: servers, iceTtlS: 0 };
    const turnServer = this.#turnServerFor(networkOf(address), { turnUrls, ttlMs }, Date.now());
    return { iceServers: [...servers, turnServer], iceTtlS: Math.floor(ttlMs / 1000) };
  }

  /** Without credentials: for a visitor that has not requested TURN. */
  stunServers(visitor: VisitorId): IceServer[] {
    return stunServers(this.#addresses(visitor).stunUrls);
  }

  /** `undefined` where the network of the address may request servers now; otherwise how long to wait, in ms. SPEC rule TURN-11. */
  takeRequest(address: string): number | undefined {
    return this.#requests.take(networkOf(address), this.#parts.now());
  }

  #addresses(room: string): Addresses {
    const nodes = this.#nodes.pick(room, this.#parts.leaseNow());
    if (nodes.length > 0) return addressesOf(nodes);
    return this.#parts.config.turn;
  }
}

type Addresses = Pick<Config['turn'], 'stunUrls' | 'turnUrls'>;

const stunServers = (urls: readonly string[]): IceServer[] => (urls.length > 0 ? [{ urls: [...urls] }] : []);

/** Several nodes may share one address, where the edge balances over all of them. */
function addressesOf(nodes: readonly TurnNode[]): Addresses {
  const turnUrls = [...new Set(nodes.flatMap(({ urls }) => urls))];
  return { turnUrls, stunUrls: stunUrlsOf(turnUrls) };
}
