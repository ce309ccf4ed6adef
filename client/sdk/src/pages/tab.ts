/** What a page needs of the tab it is open in. */
import type { PageAddress, PageLimits, VisitorId, VisitorMessage } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Ports } from '../ports.ts';

export interface Tab {
  readonly api: string;
  readonly ports: Ports;
  /** `null` before the first connection. */
  readonly limits: () => PageLimits | null;
  /** Who we are now; `null` without a connection. */
  readonly visitor: () => VisitorId | null;
  /** Without TURN, whose ports are few; `null` where nothing but TURN is to be used. */
  readonly direct: () => RTCConfiguration | null;
  /** With TURN, for which the service is asked for credentials; `null` where it gives none. */
  readonly relayed: () => Promise<RTCConfiguration | null>;
  readonly say: (message: VisitorMessage) => void;
  readonly tell: (to: VisitorId, message: LinkMessage) => void;
  readonly askToken: (pipe: string) => Promise<string | null>;
  /** Whether pages of this tab may have so many bytes more. */
  readonly hasRoom: (bytes: number) => boolean;
  /** Whether one more reader may be served; ends an idle one for it where there is one. */
  readonly mayServe: () => boolean;
  readonly onChange: () => void;
}

/** Names a page among all, and so also what is said about it. */
export interface PageOf {
  readonly page: PageAddress;
  readonly tab: Tab;
}
