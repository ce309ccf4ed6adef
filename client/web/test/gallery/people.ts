/** The people of the gallery. */
import type { Ban, RoomView } from '@parley/protocol/http';
import type { Waiting } from '@parley/protocol/people';
import type { CallFigures, CallSnapshot, ChatEntry, Link, Person } from '@parley/sdk/call';
import type { TrackFigures } from '@parley/sdk/measure/figures';
import { fakeCamera } from './fake-media.ts';

const NAMES = [
  'Mara Lindqvist',
  'Tobias',
  'Adaeze Okafor',
  'Jun Watanabe',
  'Sofía Reyes',
  'Bartholomew Featherstonehaugh-Cholmondeley',
  'Ines',
  'Dmitri Volkov',
  'Noor',
  'Élodie Marchand',
  'Sam',
];

export const GOOD: Link = {
  status: 'connected',
  path: 'direct',
  quality: 'good',
  roundTripMs: 24,
  lossPercent: 0,
};
const FAIR: Link = { ...GOOD, path: 'turn', quality: 'fair', roundTripMs: 142, lossPercent: 1.8 };
const POOR: Link = { ...GOOD, quality: 'poor', roundTripMs: 380, lossPercent: 7.2 };

/** Every third has no camera, every fourth is muted, and connections differ. */
export function people(count: number): readonly Person[] {
  return Array.from({ length: count }, (_, index) => {
    const name = NAMES[index] ?? `Guest ${index}`;
    const video = index % 3 !== 1;
    const portrait = index === 3;
    return {
      participant: `p${String(index + 1).padStart(16, '0')}`,
      name,
      presence: 'here',
      owner: false,
      coOwner: false,
      muted: false,
      media: { audio: index % 4 !== 2, video, screen: false },
      link: index === 1 ? FAIR : index === 4 ? POOR : GOOD,
      stream: video ? fakeCamera(index + 1, portrait ? { width: 600, height: 800 } : undefined) : null,
      screen: null,
      mixed: false,
      videoPaused: false,
      level: index === 0 ? 0.5 : 0,
    };
  });
}

/** As in a browser that cannot receive more cameras than these. */
export const withCameras = (cameras: number, all: readonly Person[] = []): readonly Person[] =>
  all.map((one, at) => (at < cameras ? one : { ...one, stream: null, videoPaused: true }));

const NOON = Date.UTC(2026, 4, 4, 10, 12);

export const CHAT: readonly ChatEntry[] = [
  ['Mara Lindqvist', 'p0000000000000001', 'Good morning! Can everyone hear me?', 'acknowledged'],
  [
    'Mara Lindqvist',
    'p0000000000000001',
    'The plan is at https://example.org/spring-fair/plan, page two.',
    'acknowledged',
  ],
  ['Me', 'me', 'Loud and clear', 'acknowledged'],
  [
    'Tobias',
    'p0000000000000002',
    'One moment, I am still looking for my headphones. They were on the shelf yesterday…',
    'acknowledged',
  ],
  ['Me', 'me', 'Take your time', 'sending'],
  ['Me', 'me', 'Shall we start with the tents?', 'refused'],
].map(([name = '', from = '', text = '', status], index) => ({
  id: `chat-line-${index}`,
  from,
  name,
  text,
  at: NOON + index * 40_000,
  mine: from === 'me',
  status: status === 'sending' ? 'sending' : status === 'refused' ? 'refused' : 'acknowledged',
}));

export function snapshot(changes: Partial<CallSnapshot> = {}): CallSnapshot {
  return {
    connection: { status: 'connected', pod: 'pod-1' },
    room: 'k7mq-2x9d-htw4-e0vn',
    view: { room: 'k7mq-2x9d-htw4-e0vn', kind: 'ad-hoc', homeRegion: null, cap: 100, locked: false },
    me: {
      participant: 'p00000000000000me',
      name: 'Robin Ekström',
      media: { audio: true, video: true, screen: false },
      owner: false,
      coOwner: false,
      muted: false,
    },
    allMuted: false,
    people: [],
    path: { kind: 'mesh', reason: null },
    mix: null,
    hands: [],
    reactions: [],
    lobby: [],
    muteRequests: 0,
    chat: [],
    ...changes,
  };
}

export const NAMED_VIEW: RoomView = {
  room: 'book-club@eu',
  kind: 'named',
  homeRegion: 'eu',
  cap: 100,
  locked: false,
};

const WAITING: readonly Waiting[] = ['Ines Alcântara', 'Bartholomew Featherstonehaugh', 'Yuki'].map(
  (name, index) => ({ participant: `p${String(index + 80).padStart(16, '0')}`, name }),
);

export const BANS: readonly Ban[] = [
  { id: 'ban-1', name: 'Loud Larry', network: false, at: NOON },
  { id: 'ban-2', name: 'xX_shadow_Xx', network: true, at: NOON },
];

/** A named room as its owner sees it, with the given number of newcomers waiting. */
export function owned(count: number, waiting = 0): Partial<CallSnapshot> {
  return {
    room: NAMED_VIEW.room,
    view: { ...NAMED_VIEW, lobby: true },
    me: { ...snapshot().me, owner: true },
    people: people(count),
    lobby: WAITING.slice(0, waiting),
  };
}

const VOICE: TrackFigures = {
  source: 'microphone',
  codec: 'opus',
  width: null,
  height: null,
  framesPerSecond: null,
  kilobitsPerSecond: 31,
  lossPercent: 0,
  bufferMs: 64,
  freezes: null,
};
const PICTURE: TrackFigures = {
  source: 'camera',
  codec: 'vp8',
  width: 640,
  height: 360,
  framesPerSecond: 23.9,
  kilobitsPerSecond: 587,
  lossPercent: 0.4,
  bufferMs: 64,
  freezes: 0,
};

/** The measurements of a call with those people: half of them are muted, and pictures differ. */
export function figures({ path, people: others }: CallSnapshot): CallFigures {
  const relay = path.kind === 'sfu';
  const sent = [VOICE, PICTURE, { ...PICTURE, width: 320, height: 180, kilobitsPerSecond: 148 }];
  return {
    people: others.map(({ participant, media }, index) => ({
      participant,
      received: [
        ...(media.audio ? [VOICE] : []),
        ...(media.video ? [{ ...PICTURE, kilobitsPerSecond: 587 - 31 * index }] : []),
      ],
      sent: relay ? [] : [VOICE, PICTURE],
    })),
    relay: relay ? { transport: 'WebTransport', roundTripMs: 18, lossPercent: 0.1, sent } : null,
  };
}
