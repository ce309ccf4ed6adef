/** The connection of the SDK to a relay, with the sentences of these pages. */
import { browserClock, browserRandom } from '@parley/sdk/browser-ports';
import {
  RelayLink as SdkLink,
  type RelayLinkOptions as SdkOptions,
  type RelayLinkState,
} from '@parley/sdk/sfu/relay-link';
import type { Connection } from '@parley/sdk/sfu/transports';
import type { DisconnectReason } from '../streams/disconnect-reasons.ts';
import { RELAY_SILENT } from './refusals.ts';

export type Link = RelayLinkState<DisconnectReason>;
export type RelayLinkOptions<Kind extends Connection> = Omit<
  SdkOptions<Kind, DisconnectReason>,
  'clock' | 'random' | 'silent'
>;

/** Viewers spread their connections to the next relay over this time; a draining relay waits several times longer. */
export const SPREAD_MS = 1000;

export class RelayLink<Kind extends Connection> extends SdkLink<Kind, DisconnectReason> {
  constructor(options: RelayLinkOptions<Kind>) {
    super({ ...options, clock: browserClock, random: browserRandom, silent: RELAY_SILENT });
  }
}
