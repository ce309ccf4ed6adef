/** Limits of Parley that a load generator behind one address would meet, raised for the bench and named in its report. */
import { limitKey, type LimitName } from '@parley/protocol/limits';

const RAISED: Partial<Record<LimitName, number>> = {
  'address.joins': 10_000_000,
  'address.sockets': 100_000,
  'address.resumes': 10_000_000,
  'address.reads': 10_000_000,
  'address.bufferedBytes': 1_099_511_627_776,
  'address.reassemblyBytes': 1_099_511_627_776,
  'pod.reads': 1_000_000,
  'pod.joins': 1_000_000,
  'pod.resumes': 1_000_000,
  'pod.rooms': 100_000,
  'socket.messages': 1_000_000,
  'socket.messageBurst': 10_000_000,
  'socket.bytes': 1_073_741_824,
  'socket.byteBurst': 1_073_741_824,
  // The tickets of the socket part are fetched before its measured window.
  'ticket.ttl': 300_000,
};

/** As environment variables of a pod. */
export const PARLEY_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(RAISED).map(([name, value]) => [limitKey(name as LimitName), String(value)]),
);

/** Limits of the edge for one address, as environment variables of a stack. */
export const EDGE_LIMITS: Readonly<Record<string, string>> = {
  PARLEY_EDGE_ADDRESS_JOIN_BURST: '100000',
  PARLEY_EDGE_ADDRESS_JOINS_PER_SECOND: '1000',
  PARLEY_EDGE_ADDRESS_SOCKET_BURST: '100000',
  PARLEY_EDGE_ADDRESS_API_BURST: '100000',
  PARLEY_EDGE_ADDRESS_MEDIA_BURST: '100000',
  PARLEY_EDGE_ADDRESS_WEB_BURST: '1000000',
};
