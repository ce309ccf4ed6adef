/** Every state of the pages of live video. */
import type { ComponentChild } from 'preact';
import { LivePage } from '../../src/live/live-page.tsx';
import { PublishPage } from '../../src/live/publish-page.tsx';
import { WatchPage } from '../../src/live/watch-page.tsx';
import {
  fakePublish,
  fakeWatch,
  OVER_QUIC,
  OVER_TCP,
  stopped,
  waiting,
  type FakePublish,
  type FakeWatch,
} from './fake-live.ts';
import { fakeScreen } from './fake-media.ts';

const watch = (state: FakeWatch = {}) => <WatchPage view={fakeWatch(state)} />;
const publish = (state: FakePublish = {}) => <PublishPage view={fakePublish(state)} />;

export const LIVE_STATES: Readonly<Record<string, () => ComponentChild>> = {
  live: () => <LivePage problem={false} />,
  'live-invalid': () => <LivePage problem />,
  'watch-playing': () => watch(),
  'watch-websocket': () =>
    watch({ link: OVER_TCP, sound: true, name: 'spring-concert-of-the-whole-school-2026' }),
  'watch-sound-only': () => watch({ figures: { picture: false, width: 0 } }),
  'watch-unplayable': () => watch({ figures: { playable: false, width: 0 } }),
  'watch-quiet': () => watch({ figures: { bits: 0, quietMs: 9000 } }),
  'watch-connecting': () => watch({ link: { at: 'connecting' }, broadcast: 'not-started' }),
  'watch-not-started': () => watch({ broadcast: 'not-started' }),
  'watch-starting': () => watch({ broadcast: 'starting' }),
  'watch-gone': () => watch({ broadcast: 'gone' }),
  'watch-lost': () => watch({ link: waiting('') }),
  'watch-no-relay': () => watch({ link: waiting('RELAY_UNAVAILABLE'), broadcast: 'not-started' }),
  'watch-off': () => watch({ link: stopped('LIVE_DISABLED'), broadcast: 'not-started' }),
  'publish-ready': () => publish(),
  'publish-refused': () => publish({ devices: { error: 'NotAllowedError' } }),
  'publish-live': () => publish({ link: OVER_QUIC }),
  'publish-unwatched': () => publish({ link: OVER_TCP, figures: { hasViewers: false } }),
  'publish-screen': () => publish({ link: OVER_QUIC, screen: fakeScreen() }),
  'publish-screen-trouble': () => publish({ screenProblem: 'failed' }),
  'publish-lost': () => publish({ link: waiting('RELAY_UNAVAILABLE') }),
  'publish-off': () => publish({ link: stopped('LIVE_DISABLED') }),
};
