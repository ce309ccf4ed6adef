/** What this client knows of the path of media with one participant, and which signals about it are due. */
import type { PathSignal } from '../mesh/payload.ts';
import type { MediaPath } from './paths.ts';
import { StableStream } from './stable-stream.ts';

export interface PairState {
  /** The last signal of the other participant. */
  lastSignal: PathSignal | null;
  sentText: string;
  sentAt: number;
  readonly metAt: number;
  /** Since when the relays are to carry the media; `null` once they do. */
  relayAt: number | null;
  /** No direct path exists: from then on the relays carry the media. */
  unreachable: boolean;
  subscribed: boolean;
  shown: MediaPath;
  /** Played in the mix of what comes through the relays. */
  mixed: boolean;
  wasReceiving: boolean;
  /** The other participant could use relays once. */
  wasAble: boolean;
  readonly stream: StableStream;
  readonly screen: StableStream;
}

/** A signal may be lost: it is repeated until both participants agree. */
const REPEAT_MS = 2000;

/** `now`: of the monotonic clock, in ms. */
export function newPair(shown: MediaPath, now: number, createStream: () => MediaStream): PairState {
  return {
    lastSignal: null,
    sentText: '',
    sentAt: now,
    metAt: now,
    relayAt: null,
    unreachable: false,
    subscribed: false,
    shown,
    mixed: false,
    wasReceiving: false,
    wasAble: false,
    stream: new StableStream(createStream),
    screen: new StableStream(createStream),
  };
}

/** Media between the two goes through relays, in either direction, or is about to. */
export const usesRelays = ({ subscribed, lastSignal }: PairState): boolean =>
  subscribed || lastSignal?.receiving === true;

/** The other participant may not know our last signal any more. A participant that got none needs none. */
export function forgetSent(pair: PairState): void {
  if (pair.sentText !== '') pair.sentText = 'forgotten';
}

/** Receives a signal of the other participant. A participant that sends its first one, or one after a reload, does not know our signals either. */
export function receiveSignal(pair: PairState, signal: PathSignal): void {
  if (pair.lastSignal === null || (pair.lastSignal.receiving && !signal.receiving)) forgetSent(pair);
  pair.lastSignal = signal;
  pair.wasAble ||= signal.supported;
}

/**
 * The signal to send now; `null` where none is due. Until some participant uses the relays no signal is sent, so that nothing changes for
 * clients that know only the mesh.
 */
export function signalDue(
  pair: PairState,
  {
    able,
    receiving,
    path,
    now,
  }: { readonly able: boolean; readonly receiving: boolean; path: MediaPath; now: number },
): PathSignal | null {
  const want = pair.unreachable ? 'sfu' : path;
  const signal: PathSignal = { type: 'path', preferred: want, supported: able, receiving };
  const text = JSON.stringify(signal);
  const silent =
    want === 'mesh' && !receiving && pair.sentText === '' && pair.lastSignal?.preferred !== 'sfu';
  const settled =
    want === 'mesh' ? pair.lastSignal?.preferred !== 'sfu' : receiving && pair.lastSignal?.receiving === true;
  if (silent) return null;
  if (text === pair.sentText && (settled || now - pair.sentAt < REPEAT_MS)) return null;
  pair.sentText = text;
  pair.sentAt = now;
  return signal;
}
