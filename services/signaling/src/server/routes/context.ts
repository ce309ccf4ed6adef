/** What the handlers of /v1 share. */
import type { Logger } from 'pino';
import type { RoomStore } from '../../core/ports.ts';
import type { Tokens } from '../../adapters/tokens.ts';
import type { Config } from '../config.ts';
import type { NamedRooms } from '../named-rooms.ts';
import type { SignalingPod } from '../pod.ts';
import type { Rates } from '../rates.ts';
import type { Rooms } from '../rooms.ts';

export interface RouteContext extends Rates {
  readonly config: Config;
  readonly log: Logger;
  readonly pod: SignalingPod;
  readonly rooms: Rooms;
  /** Of the rooms of this region. */
  readonly store: Pick<RoomStore, 'create'>;
  readonly tokens: Tokens;
  readonly promote: NamedRooms['promote'];
}
