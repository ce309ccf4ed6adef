/** The media of one participant for the application: that of the link or that of the relays, on streams that stay the same. */
import type { Member } from '@parley/protocol/people';
import type { Link, PersonMedia } from '../call.ts';
import type { Role } from '../media.ts';
import type { RelayedPerson } from '../ports.ts';
import type { PairState } from './pair.ts';

/** The media of the link with one participant in the mesh. */
export interface LinkMedia {
  readonly view: Link;
  readonly stream: MediaStream | null;
  readonly screen: MediaStream | null;
  level(): number;
}

/** Playback delays from which participants notice, and from which they interrupt each other. */
const FAIR_MS = 200;
const POOR_MS = 350;

/** Without relays. */
const PLAIN = { mixed: false, videoPaused: false };

export interface Sources {
  readonly link: LinkMedia | undefined;
  readonly relayed: RelayedPerson | undefined;
  /** The media should have come through relays by now. */
  readonly overdue: boolean;
}

/** `pair`: `null` where only the mesh exists. */
export function shownOf(pair: PairState | null, { link, relayed, overdue }: Sources): PersonMedia {
  const view: Link = link?.view ?? { status: overdue ? 'no-media' : 'connecting' };
  const level = link?.level() ?? 0;
  if (pair === null)
    return { ...PLAIN, link: view, stream: link?.stream ?? null, screen: link?.screen ?? null, level };
  if (pair.shown === 'sfu' && relayed !== undefined) return shownOfRelay(pair, relayed);
  if (relayed?.otherKey === true && view.status !== 'connected')
    return { ...PLAIN, link: { status: 'other-key' }, stream: null, screen: null, level: 0 };
  return {
    ...PLAIN,
    link: view,
    stream: pair.stream.of(link?.stream?.getTracks() ?? null),
    screen: pair.screen.of(link?.screen?.getTracks() ?? null),
    mixed: pair.mixed,
    level: pair.mixed && relayed !== undefined ? relayed.level() : level,
  };
}

function shownOfRelay(pair: PairState, relayed: RelayedPerson): PersonMedia {
  const tracks = (...sources: Role[]): MediaStreamTrack[] =>
    sources.flatMap((source) => relayed.track(source) ?? []);
  return {
    link: relayed.otherKey
      ? { status: 'other-key' }
      : relayedLink(relayed.ready ? relayed.targetMs() : null, pair.wasReceiving),
    stream: pair.stream.of(tracks('microphone', 'camera')),
    screen: pair.screen.of(tracks('screen', 'screen-audio')),
    mixed: pair.mixed,
    videoPaused: relayed.videoPaused,
    level: relayed.level(),
  };
}

/** Late packets are the only sign of a bad path through relays: they increase the delay. `null`: no media. */
function relayedLink(delayMs: number | null, before: boolean): Link {
  if (delayMs === null) return { status: before ? 'recovering' : 'connecting' };
  const quality = delayMs < FAIR_MS ? 'good' : delayMs < POOR_MS ? 'fair' : 'poor';
  return { status: 'connected', path: 'sfu', quality, roundTripMs: null, lossPercent: null };
}

/** Whether the media that the participant signals arrives over the link. */
export function flows(link: LinkMedia | undefined, member: Member | undefined): boolean {
  if (link?.view.status !== 'connected' || link.stream === null) return false;
  const { audio, video } = member?.media ?? { audio: false, video: false };
  const arrives = (tracks: MediaStreamTrack[]): boolean => tracks.some((track) => !track.muted);
  return (
    (!video || arrives(link.stream.getVideoTracks())) && (!audio || arrives(link.stream.getAudioTracks()))
  );
}
