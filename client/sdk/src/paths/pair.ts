/** What this client knows of the path of media with one participant, and which signals about it are due. */
import type { PathSignal } from '../mesh/payload.ts';
import type { Way } from './paths.ts';
import { StableStream } from './stable-stream.ts';

export interface PairState {
  /** The last signal of the other participant. */
  said: PathSignal | null;
  told: string;
  toldAt: number;
  readonly metAt: number;
  /** Since when the relays are to carry the media; `null` once they do. */
  relayAt: number | null;
  /** No direct path exists: from then on the relays carry the media. */
  unreachable: boolean;
  subscribed: boolean;
  shown: Way;
  /** Played in the mix of what comes through the relays. */
  mixed: boolean;
  taken: boolean;
  /** The other participant could use relays once. */
  wasAble: boolean;
  readonly stream: StableStream;
  readonly screen: StableStream;
}

/** A signal may be lost: it is repeated until both participants agree. */
const SAY_AGAIN_MS = 2000;

/** `now`: of the monotonic clock, in ms. */
export function newPair(shown: Way, now: number, createStream: () => MediaStream): PairState {
  return {
    said: null,
    told: '',
    toldAt: now,
    metAt: now,
    relayAt: null,
    unreachable: false,
    subscribed: false,
    shown,
    mixed: false,
    taken: false,
    wasAble: false,
    stream: new StableStream(createStream),
    screen: new StableStream(createStream),
  };
}

/** The other participant may not know our last signal any more. A participant that got none needs none. */
export function forgetTold(pair: PairState): void {
  if (pair.told !== '') pair.told = 'forgotten';
}

/** Takes a signal of the other participant. One that says so for the first time, or after a reload, does not know our signals either. */
export function take(pair: PairState, signal: PathSignal): void {
  if (pair.said === null || (pair.said.receiving && !signal.receiving)) forgetTold(pair);
  pair.said = signal;
  pair.wasAble ||= signal.supported;
}

/**
 * The signal to send now; `null` where none is due. Until some participant uses the relays no signal is sent, so that nothing changes for
 * clients that know only the mesh.
 */
export function signalDue(
  pair: PairState,
  { able, takes, way, now }: { readonly able: boolean; readonly takes: boolean; way: Way; now: number },
): PathSignal | null {
  const want = pair.unreachable ? 'sfu' : way;
  const signal: PathSignal = { type: 'path', preferred: want, supported: able, receiving: takes };
  const text = JSON.stringify(signal);
  const silent = want === 'mesh' && !takes && pair.told === '' && pair.said?.preferred !== 'sfu';
  const settled = want === 'mesh' ? pair.said?.preferred !== 'sfu' : takes && pair.said?.receiving === true;
  if (silent) return null;
  if (text === pair.told && (settled || now - pair.toldAt < SAY_AGAIN_MS)) return null;
  pair.told = text;
  pair.toldAt = now;
  return signal;
}
