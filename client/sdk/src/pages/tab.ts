/** What a page needs from its tab. */
import type { PageAddress, PageLimits, VisitorId, VisitorMessage } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Ports } from '../ports.ts';

export interface Tab {
  readonly api: string;
  readonly ports: Ports;
  /** `null` before the first connection. */
  readonly limits: () => PageLimits | null;
  /** Our own visitor id; `null` without a connection. */
  readonly visitor: () => VisitorId | null;
  /** The configuration without TURN, because TURN ports are scarce; `null` if only TURN may be used. */
  readonly direct: () => RTCConfiguration | null;
  /** The configuration with TURN, with credentials from the service; `null` if it gives none. */
  readonly relayed: () => Promise<RTCConfiguration | null>;
  readonly send: (message: VisitorMessage) => void;
  readonly sendTo: (to: VisitorId, message: LinkMessage) => void;
  readonly requestToken: (pipe: string) => Promise<string | null>;
  /** Whether the pages of this tab may take this many more bytes. */
  readonly hasRoom: (bytes: number) => boolean;
  /** Whether one more reader may be served; ends an idle connection to make room. */
  readonly mayServe: () => boolean;
  readonly onChange: () => void;
}

/** The identity of a page, which also appears in messages about it. */
export interface PageOf {
  readonly page: PageAddress;
  readonly tab: Tab;
}
