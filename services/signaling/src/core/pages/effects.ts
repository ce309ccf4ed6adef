/** What the pages of a pod want done. The shell (`server/page-desk.ts`) carries effects out in order. */
import type { Code } from '@parley/protocol/codes';
import type { DirectedTransfer } from '@parley/protocol/directed';
import type { PodId } from '@parley/protocol/ids';
import type {
  PageDirectedAck,
  PageSectionRequest,
  PageHeartbeat,
  PageBusMessage,
  PageSection,
} from '@parley/protocol/pages-bus';
import type { PageAddress, VisitMessage, VisitorId } from '@parley/protocol/pages';
import type { SocketId } from '../socket-id.ts';

export type PageEffect =
  | { readonly type: 'say'; readonly sockets: readonly SocketId[]; readonly message: VisitMessage }
  /** The visitor is in: the shell adds ICE servers and limits. */
  | {
      readonly type: 'welcome';
      readonly socket: SocketId;
      readonly visitor: VisitorId;
      readonly visitors: number;
    }
  /** The socket stays. */
  | { readonly type: 'reject'; readonly socket: SocketId; readonly code: Code; readonly page: PageAddress }
  /** Then it is answered, by whether the socket took it: one that is behind is not ended for what strangers send it. */
  | {
      readonly type: 'hand-on';
      readonly socket: SocketId;
      readonly from: VisitorId;
      readonly payload: Uint8Array;
      readonly binary: boolean;
      readonly taken: PageEffect | undefined;
      readonly slow: PageEffect;
    }
  | { readonly type: 'listen'; readonly page: PageAddress }
  | { readonly type: 'stop-listening'; readonly page: PageAddress }
  | {
      readonly type: 'tell-page';
      readonly page: PageAddress;
      readonly message: Exclude<PageBusMessage, PageHeartbeat | PageDirectedAck>;
    }
  | {
      readonly type: 'tell-pod';
      readonly pod: PodId;
      readonly message: PageSectionRequest | PageSection | PageDirectedAck;
    }
  | { readonly type: 'heartbeat'; readonly message: PageHeartbeat }
  | { readonly type: 'transfer'; readonly pod: PodId; readonly transfer: DirectedTransfer };

/** What happens to them. Every input is handled to its end before the next one. */
export type PageInput =
  | {
      readonly type: 'arrive';
      readonly socket: SocketId;
      readonly network: string;
      /** At least 9 random bytes. */
      readonly random: Uint8Array;
    }
  | { readonly type: 'lost'; readonly socket: SocketId }
  | {
      readonly type: 'subscribe';
      readonly socket: SocketId;
      readonly page: PageAddress;
      readonly exclude: readonly VisitorId[];
    }
  | {
      readonly type: 'announce';
      readonly socket: SocketId;
      readonly page: PageAddress;
      readonly whole: boolean;
      readonly bytes: number;
    }
  | { readonly type: 'leave'; readonly socket: SocketId; readonly page: PageAddress }
  | {
      readonly type: 'directed';
      readonly socket: SocketId;
      readonly to: VisitorId;
      readonly id: string;
      readonly payload: Uint8Array;
      readonly binary: boolean;
    }
  | { readonly type: 'bus'; readonly message: PageBusMessage }
  | { readonly type: 'transfer'; readonly transfer: DirectedTransfer }
  /** This pod ends: its visitors are sent to other pods. */
  | { readonly type: 'draining' }
  /** They are gone, and so will it be in a moment. */
  | { readonly type: 'left' }
  /** The link to the bus is back: what was said meanwhile is lost. */
  | { readonly type: 'bus-back' };
