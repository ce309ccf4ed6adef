/** What the handlers of /v1 share. */
import type { Logger } from 'pino';
import type { AddressBuckets } from '../../core/buckets.ts';
import type { RoomStore, SeatStore } from '../../core/ports.ts';
import type { Tokens } from '../../adapters/tokens.ts';
import type { Config } from '../config.ts';
import type { SignalingPod } from '../pod.ts';
import type { Rooms } from '../rooms.ts';

export interface RouteContext {
  readonly config: Config;
  readonly log: Logger;
  readonly pod: SignalingPod;
  readonly rooms: Rooms;
  readonly store: RoomStore;
  readonly seats: SeatStore;
  readonly tokens: Tokens;
  readonly joins: AddressBuckets;
  readonly creations: AddressBuckets;
  readonly moderation: AddressBuckets;
}
