/** Effects: what the core of pages wants done. The shell (`server/page-shell.ts`) carries them out in order. */
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
  | { readonly type: 'send'; readonly sockets: readonly SocketId[]; readonly message: VisitMessage }
  /** The visitor is accepted: the shell adds ICE servers and limits. */
  | {
      readonly type: 'welcome';
      readonly socket: SocketId;
      readonly visitor: VisitorId;
      readonly visitors: number;
    }
  /** The socket stays open. */
  | { readonly type: 'reject'; readonly socket: SocketId; readonly code: Code; readonly page: PageAddress }
  /** The sender is answered by whether the socket accepted the message: a slow socket is not closed for what strangers send it. */
  | {
      readonly type: 'deliver';
      readonly socket: SocketId;
      readonly from: VisitorId;
      readonly payload: Uint8Array;
      readonly binary: boolean;
      readonly delivered: PageEffect | undefined;
      readonly slow: PageEffect;
    }
  | { readonly type: 'subscribe'; readonly page: PageAddress }
  | { readonly type: 'unsubscribe'; readonly page: PageAddress }
  | {
      readonly type: 'publish-page';
      readonly page: PageAddress;
      readonly message: Exclude<PageBusMessage, PageHeartbeat | PageDirectedAck>;
    }
  | {
      readonly type: 'publish-pod';
      readonly pod: PodId;
      readonly message: PageSectionRequest | PageSection | PageDirectedAck;
    }
  | { readonly type: 'heartbeat'; readonly message: PageHeartbeat }
  | { readonly type: 'transfer'; readonly pod: PodId; readonly transfer: DirectedTransfer };

/** Inputs: what happens to the core of pages. Each input is handled completely before the next one. */
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
  /** The roster's judgement: whether a region is cut off, or was until a moment ago. */
  | { readonly type: 'regions-missing'; readonly some: boolean }
  /** This pod ends: its visitors are sent to other pods. */
  | { readonly type: 'draining' }
  /** All visitors are gone; the process ends soon. */
  | { readonly type: 'left' }
  /** The connection to the bus is restored; messages published in the meantime are lost. */
  | { readonly type: 'bus-back' };
