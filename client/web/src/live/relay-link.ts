/** The SDK's connection to a relay, with what these pages say of it. */
import { browserClock, browserRandom } from '@parley/sdk/browser-ports';
import {
  RelayLink as SdkLink,
  type RelayLinkOptions as SdkOptions,
  type RelayLinkState,
} from '@parley/sdk/sfu/relay-link';
import type { Connection } from '@parley/sdk/sfu/transports';
import type { Close } from '../streams/closes.ts';
import { RELAY_SILENT } from './refusals.ts';

export type Link = RelayLinkState<Close>;
export type RelayLinkOptions<Kind extends Connection> = Omit<
  SdkOptions<Kind, Close>,
  'clock' | 'random' | 'silent'
>;

/** Those who watch knock at the next relay within this, not all at once; one that drains waits several times longer. */
export const SPREAD_MS = 1000;

export class RelayLink<Kind extends Connection> extends SdkLink<Kind, Close> {
  constructor(options: RelayLinkOptions<Kind>) {
    super({ ...options, clock: browserClock, random: browserRandom, silent: RELAY_SILENT });
  }
}
