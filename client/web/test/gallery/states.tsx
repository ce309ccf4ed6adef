/** Every page and state of the application by name. */
import { codeNames } from '@parley/protocol/codes';
import type { CallSnapshot, EndReason } from '@parley/sdk/call';
import type { ComponentChild } from 'preact';
import { LocalMedia } from '../../src/media/local-media.ts';
import { EndingPage } from '../../src/pages/ending-page.tsx';
import { Landing } from '../../src/pages/landing.tsx';
import { OwnerKeyDialog } from '../../src/pages/named-room-form.tsx';
import { DeleteRoomDialog, UseKeyDialog } from '../../src/pages/owned-room.tsx';
import { InvalidLink, NotFound, Unsupported } from '../../src/pages/plain-notices.tsx';
import { Prejoin } from '../../src/pages/prejoin.tsx';
import { StreamPage } from '../../src/streams/stream-page.tsx';
import { StreamsPage } from '../../src/streams/streams-page.tsx';
import { call, inCall, press } from './call-state.tsx';
import { fakeDevices, fakeScreen, type FakeDeviceOptions } from './fake-media.ts';
import { closed, fakeStream, HOSTILE, playing, SENSOR, WATCHED, type FakeStream } from './fake-stream.ts';
import { FILE_STATES } from './file-states.tsx';
import { HAND_STATES } from './hand-states.tsx';
import { LIVE_STATES } from './live-states.tsx';
import { MUTE_STATES } from './mute-states.tsx';
import { SHARED_PAGE_STATES } from './shared-page-states.tsx';
import { CHAT, NAMED_VIEW, owned, people, snapshot, withCameras } from './people.ts';

const AD_HOC = { kind: 'ad-hoc', room: 'k7mq-2x9d-htw4-e0vn' } as const;
const NAMED = { kind: 'named', room: 'book-club@eu', name: 'book-club', region: 'eu' } as const;
/** A room of another owner: this browser has no key for it. */
const OTHERS = { ...NAMED, room: 'chess-club@eu', name: 'chess-club' } as const;
/** The room of a call, for a guest. */
const CALL = {
  ...NAMED,
  room: 'k7m3-q9xd-w2hn-5tzp@eu',
  name: 'k7m3-q9xd-w2hn-5tzp',
} as const;
const nothing = () => {};

function prejoin(
  options: FakeDeviceOptions = {},
  room: typeof AD_HOC | typeof NAMED | typeof OTHERS | typeof CALL = AD_HOC,
): ComponentChild {
  const media = new LocalMedia(fakeDevices(options));
  void media.begin();
  return <Prejoin room={room} media={media} onJoin={nothing} onGone={nothing} />;
}

/** Many people, through relays. */
const relayed = (count: number): Partial<CallSnapshot> => ({
  path: { kind: 'sfu', reason: 'people', encrypted: false },
  people: people(count - 1).map((person) => ({
    ...person,
    link: person.link.status === 'connected' ? { ...person.link, path: 'sfu' as const } : person.link,
  })),
});

function mixed(): Partial<CallSnapshot> {
  const all = people(5).map((person, index) => {
    if (index === 0) return { ...person, presence: 'away' as const, level: 0 };
    if (index === 2) return { ...person, presence: 'unreachable' as const };
    if (index === 3) return { ...person, link: { status: 'connecting' as const }, stream: null };
    if (index === 4) return { ...person, link: { status: 'failed' as const }, stream: null };
    return person;
  });
  return { people: all };
}

const sharing = (...sharers: readonly number[]): Partial<CallSnapshot> => ({
  people: people(5).map((person, index) =>
    sharers.includes(index)
      ? { ...person, media: { ...person.media, screen: true }, screen: fakeScreen() }
      : person,
  ),
});

const ending = (reason: EndReason, retryAfterMs: number | null = null) => (
  <EndingPage reason={reason} retryAfterMs={retryAfterMs} tries={2} onAgain={nothing} />
);

const NO_PICTURE = { ...WATCHED, codecs: null, width: 0, frames: null, dropped: null, lag: null, gaps: null };
const stream = (state: FakeStream) => <StreamPage stream={fakeStream(state)} />;
const video = (state: FakeStream = {}) =>
  stream({ kind: 'video', playback: playing(), figures: WATCHED, ...state });

export const STATES: Readonly<Record<string, () => ComponentChild>> = {
  landing: () => <Landing />,
  'landing-named': () => {
    press('[data-testid=named-room]');
    return <Landing />;
  },
  'landing-owner-key': () => (
    <>
      <Landing />
      <OwnerKeyDialog
        made={{
          room: NAMED_VIEW,
          link: '',
          ownerKey: 'ok_7Yw3kPqLr0ZtVn5sHc2GxJ9mBd8aQfEu',
          idleMs: 7_776_000_000,
        }}
        onClose={nothing}
      />
    </>
  ),
  prejoin: () => prejoin(),
  'prejoin-named': () => prejoin({}, NAMED),
  'prejoin-refused': () => prejoin({ error: 'NotAllowedError' }),
  'prejoin-no-device': () => prejoin({ error: 'NotFoundError' }),
  'prejoin-in-use': () => prejoin({ error: 'NotReadableError' }),
  'prejoin-insecure': () => prejoin({ access: 'insecure' }),
  'prejoin-call': () => prejoin({}, CALL),
  'prejoin-guest': () => prejoin({}, OTHERS),
  'use-key': () => (
    <>
      {prejoin({}, OTHERS)}
      <UseKeyDialog room={OTHERS.room} onClose={nothing} onKey={nothing} />
    </>
  ),
  'delete-room': () => (
    <>
      {prejoin({}, NAMED)}
      <DeleteRoomDialog room={NAMED.room} ownerKey="key" onClose={nothing} onDeleted={nothing} />
    </>
  ),
  'call-joining': () => call({ change: { connection: { status: 'joining' } } }),
  'call-arriving': () =>
    call({ change: { connection: { status: 'arriving', turnAtMs: Date.now() + 24_000 } } }),
  'call-alone': () => call({}),
  ...Object.fromEntries(
    [2, 3, 4, 6, 9, 12].map((count) => [`call-${count}`, () => call({ change: inCall(count) })]),
  ),
  'call-speaker': () =>
    call({ change: relayed(9), script: (session) => (session.stage.view.value = 'speaker') }),
  'call-pages': () => call({ change: relayed(40) }),
  'call-paused': () => call({ change: { ...relayed(9), people: withCameras(4, relayed(9).people) } }),
  'call-pinned': () =>
    call({ change: relayed(6), script: (session) => session.stage.togglePin('p0000000000000003') }),
  'call-path': () =>
    call({ change: relayed(5), script: (session) => (session.dialog.value = { kind: 'path' }) }),
  'call-path-direct': () => call({ script: (session) => (session.dialog.value = { kind: 'path' }) }),
  'call-encrypted': () =>
    call({
      change: { ...relayed(5), path: { kind: 'sfu', reason: 'people', encrypted: true } },
      script: (session) => {
        session.mediaKey.value = 'AAECAwQFBgcICQoLDA0ODw';
        session.dialog.value = { kind: 'path' };
      },
    }),
  'call-statistics': () =>
    call({
      change: relayed(5),
      script: (session) => (session.dialog.value = { kind: 'statistics' }),
    }),
  'call-silent': () => call({ change: inCall(3), silent: true }),
  'call-mixed': () => call({ change: mixed() }),
  'call-reconnecting': () =>
    call({
      change: {
        ...inCall(3),
        connection: { status: 'recovering', sinceMs: 0, offline: false, turnAtMs: null, movingTo: null },
      },
    }),
  'call-moving': () =>
    call({
      change: {
        ...inCall(3),
        connection: { status: 'recovering', sinceMs: 0, offline: false, turnAtMs: null, movingTo: 'us-east' },
      },
    }),
  'call-reconnecting-wait': () =>
    call({
      change: {
        ...inCall(3),
        connection: {
          status: 'recovering',
          sinceMs: 0,
          offline: false,
          turnAtMs: Date.now() + 12_000,
          movingTo: null,
        },
      },
    }),
  'call-offline': () =>
    call({
      change: {
        ...inCall(3),
        connection: { status: 'recovering', sinceMs: 0, offline: true, turnAtMs: null, movingTo: null },
      },
    }),
  'call-screen': () => call({ change: sharing(2) }),
  'call-two-screens': () => call({ change: sharing(2, 4) }),
  'call-own-screen': () =>
    call({ change: inCall(3), script: (session) => (session.screen.value = fakeScreen()) }),
  'call-chat': () =>
    call({ change: { ...inCall(4), chat: CHAT }, script: (session) => session.openPanel('chat') }),
  'call-chat-empty': () => call({ change: inCall(2), script: (session) => session.openPanel('chat') }),
  'call-unread': () =>
    call({
      change: inCall(4),
      script: (_session, fake) => fake.show({ chat: CHAT.slice(0, 2) }),
    }),
  'call-self-hidden': () =>
    call({ change: inCall(4), script: (session) => (session.stage.self.value = false) }),
  'call-volume': () =>
    call({
      change: inCall(4),
      script: (session) => {
        session.volumes.set('p0000000000000002', 0.35);
        session.openPanel('people');
        press('[data-participant=p0000000000000002] [data-testid=volume-button]');
      },
    }),
  'call-devices': () => {
    press('[data-testid=devices-microphone]');
    return call({ change: inCall(2) });
  },
  'call-muted-speech': () =>
    call({ change: inCall(2), silent: true, script: (session) => (session.mutedSpeech.value = true) }),
  'call-people': () => call({ change: mixed(), script: (session) => session.openPanel('people') }),
  'call-settings': () =>
    call({ change: inCall(3), script: (session) => (session.dialog.value = { kind: 'settings' }) }),
  'call-shortcuts': () =>
    call({ change: inCall(3), script: (session) => (session.dialog.value = { kind: 'shortcuts' }) }),
  'call-share': () =>
    call({ change: inCall(3), script: (session) => (session.dialog.value = { kind: 'share' }) }),
  'call-link': () =>
    call({
      change: inCall(3),
      script: (session) => (session.dialog.value = { kind: 'link', participant: 'p0000000000000002' }),
    }),
  'call-cannot-share': () =>
    call({
      change: inCall(2),
      devices: { canShare: false },
      script: (session) => void session.toggleScreen(),
    }),
  'call-sound-blocked': () =>
    call({ change: inCall(3), script: (session) => (session.soundBlocked.value = true) }),
  'call-lobby-request': () => call({ owner: 'obeyed', change: owned(3, 1) }),
  'call-lobby-requests': () => call({ owner: 'obeyed', change: owned(3, 3) }),
  'call-lobby-request-chat': () =>
    call({ owner: 'obeyed', change: owned(3, 1), script: (session) => session.openPanel('chat') }),
  'owner-people': () =>
    call({
      owner: 'obeyed',
      change: owned(4, 3),
      script: (session) => session.openPanel('people'),
    }),
  'owner-menu': () =>
    call({
      owner: 'obeyed',
      change: owned(4),
      script: (session) => {
        session.openPanel('people');
        void session.ownerCommands?.requestMute('p0000000000000001');
        press('[data-testid=person]:nth-of-type(3) [data-testid=person-menu]');
      },
    }),
  'owner-co-owner': () =>
    call({
      owner: 'obeyed',
      change: owned(4),
      script: (session) => {
        session.openPanel('people');
        press('[data-testid=person]:nth-of-type(3) [data-testid=person-menu]');
        press('[data-testid=make-co-owner]');
      },
    }),
  'co-owner-menu': () =>
    call({
      owner: 'obeyed',
      change: { ...owned(4), me: { ...snapshot().me, owner: true, coOwner: true } },
      script: (session) => {
        session.openPanel('people');
        press('[data-testid=person]:nth-of-type(3) [data-testid=person-menu]');
      },
    }),
  'owner-ban': () =>
    call({
      owner: 'obeyed',
      change: owned(4),
      script: (session) => {
        session.openPanel('people');
        session.dialog.value = { kind: 'ban', participant: 'p0000000000000002', name: 'Tobias' };
      },
    }),
  'owner-bans': () =>
    call({
      owner: 'obeyed',
      change: owned(2),
      script: (session) => {
        session.openPanel('people');
        void session.ownerCommands?.readBans();
      },
    }),
  'owner-problem': () =>
    call({
      owner: 'STORE_UNAVAILABLE',
      change: owned(3),
      script: (session) => {
        session.openPanel('people');
        session.ownerCommands?.kick('p0000000000000001');
      },
    }),
  'owner-key-refused': () =>
    call({
      owner: 'OWNER_KEY_INVALID',
      change: { ...owned(2), me: snapshot().me },
      script: (session) => session.openPanel('people'),
    }),
  'call-mute-requested': () =>
    call({
      change: { ...inCall(3), room: NAMED_VIEW.room, view: NAMED_VIEW },
      script: (session, fake) => void session.media.begin().then(() => fake.show({ muteRequests: 1 })),
      silent: true,
    }),
  ...MUTE_STATES,
  'call-locked': () =>
    call({
      change: {
        room: NAMED_VIEW.room,
        view: { ...NAMED_VIEW, locked: true, lobby: true },
        people: people(3).map((person, index) => ({ ...person, owner: index === 0 })),
      },
      script: (session) => session.openPanel('people'),
    }),
  'lobby-waiting': () =>
    call({ change: { room: NAMED_VIEW.room, connection: { status: 'lobby-waiting', offline: false } } }),
  'lobby-waiting-offline': () =>
    call({
      change: { room: NAMED_VIEW.room, connection: { status: 'lobby-waiting', offline: true } },
      silent: true,
    }),
  'ended-left': () => ending('left'),
  'ended-unreachable': () => ending('unreachable'),
  ...Object.fromEntries(codeNames().map((code) => [`ended-${code}`, () => ending(code, 42_000)])),
  streams: () => <StreamsPage problem={false} />,
  'streams-invalid': () => <StreamsPage problem />,
  'stream-video': () => video(),
  'stream-sound-on': () => video({ sound: 'on', topic: 'out/lab/bench-2/camera/above' }),
  'stream-quiet': () => video({ figures: { ...WATCHED, bits: 0, messages: 0, quietMs: 72_000 } }),
  'stream-lost': () => video({ link: closed('GOAWAY', 'waiting') }),
  'stream-silent-sound': () =>
    video({
      playback: playing({
        sound: false,
        note: 'The audio codec is MP2. This browser cannot play it. Send AAC: with ffmpeg, use -c:a aac.',
      }),
    }),
  'stream-sound-only': () =>
    video({ playback: playing({ picture: false, element: document.createElement('div') }) }),
  'stream-unplayable': () =>
    video({
      playback: {
        at: 'unplayable',
        codecs: 'MPEG-1 or MPEG-2 + MP2',
        reason:
          'The video codec is MPEG-1 or MPEG-2. This browser cannot play it. Send H.264: with ffmpeg, use -c:v libx264 -pix_fmt yuv420p.',
      },
      figures: {
        ...WATCHED,
        width: 0,
        frames: null,
        lag: null,
        dropped: null,
        codecs: 'MPEG-1 or MPEG-2 + MP2',
      },
    }),
  'stream-connecting': () => stream({ link: { at: 'connecting' }, figures: { connectedMs: null } }),
  'stream-empty': () => stream({}),
  'stream-sending-address': () => stream({ topic: 'in/cam' }),
  'stream-unreachable': () => stream({ link: closed('POD_FULL', 'waiting'), figures: { connectedMs: null } }),
  'stream-refused': () => stream({ link: closed('ORIGIN_DENIED'), figures: { connectedMs: null } }),
  'stream-token': () => stream({ link: closed('TOKEN_REQUIRED'), figures: { connectedMs: null } }),
  'stream-text': () =>
    stream({
      topic: 'lab/thermometers',
      kind: 'text',
      lines: SENSOR,
      figures: { ...NO_PICTURE, bits: 1750, messages: 4.97 },
    }),
  'stream-hostile-text': () => stream({ topic: 'chat', kind: 'text', lines: HOSTILE, figures: NO_PICTURE }),
  'stream-bytes': () =>
    stream({
      topic: 'lab/adc',
      kind: 'bytes',
      sample: Uint8Array.from({ length: 256 }, (_, index) => (index * 37) % 251),
      figures: { ...NO_PICTURE, bits: 524_288, messages: 64, lastBytes: 1024 },
    }),
  ...HAND_STATES,
  ...FILE_STATES,
  ...LIVE_STATES,
  ...SHARED_PAGE_STATES,
  'page-not-found': () => <NotFound />,
  'page-invalid-link': () => <InvalidLink />,
  'page-unsupported': () => <Unsupported />,
};
