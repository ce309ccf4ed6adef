/** Real browsers with made-up cameras and microphones. */
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import type { AnyPage } from './any-page.ts';

/** The fake camera counts frames and beeps once a second. */
const FAKE_DEVICES = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream=fps=10',
  '--auto-select-desktop-capture-source=Entire screen',
  '--allow-loopback-in-peer-connection',
  '--autoplay-policy=no-user-gesture-required',
];
/** Nothing is asked of the internet. */
const QUIET = [
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-gpu',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

export const chromiumFlags: readonly string[] = [...FAKE_DEVICES, ...QUIET];
export const chromiumPath = process.env['PARLEY_CHROMIUM'] ?? '/usr/bin/chromium';
export const firefoxPath = process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr';

/** `executable` may be a wrapper that starts Chromium elsewhere, in a network namespace for example. */
export function launchChromium(
  options: { executable?: string; args?: readonly string[] } = {},
): Promise<Browser> {
  return chromium.launch({
    executablePath: options.executable ?? chromiumPath,
    args: [...chromiumFlags, ...(options.args ?? [])],
  });
}

/** How large things are: two cores cannot encode what four people send of the 1280 x 720 that the page asks for, nor draw many large pages. */
export interface Sizes {
  readonly camera: Camera;
  readonly page: Size;
}
interface Size {
  readonly width: number;
  readonly height: number;
}
interface Camera extends Size {
  /** Pictures per second. */
  readonly frameRate?: number;
}
const USUAL: Sizes = { camera: { width: 320, height: 180 }, page: { width: 900, height: 640 } };

/** One person's browser profile: cookies and storage of its own. `affinity` lets the edge choose another pod. */
export async function newProfile(
  browser: Browser,
  origin: string,
  affinity?: string,
  sizes = USUAL,
): Promise<BrowserContext> {
  const profile = await browser.newContext({
    permissions: ['camera', 'microphone'],
    ignoreHTTPSErrors: true,
    viewport: sizes.page,
  });
  if (affinity !== undefined)
    await profile.addCookies([{ name: 'parley-affinity', value: affinity, url: origin }]);
  await profile.addInitScript(watchConnections);
  await profile.addInitScript(provideCamera, sizes.camera);
  return profile;
}

/**
 * Gives pictures of this size, at most as many as Chromium's fake camera, and sound without the processing of a real microphone, which took 13 % of a
 * processor for three pages; keeps every track that it gives where `unplug` finds it. Runs in the page.
 */
export function provideCamera({ width, height, frameRate = 10 }: Camera): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const real = devices.getUserMedia.bind(devices);
  const given: GivenTracks = new Map();
  const picture = { width, height, frameRate };
  const sound = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const asObject = <Constraints>(asked: Constraints | boolean): Constraints | object =>
    typeof asked === 'object' && asked ? asked : {};
  devices.getUserMedia = async ({ video = false, audio = false } = {}) => {
    const stream = await real({
      video: video && { ...asObject(video), ...picture },
      audio: audio && { ...asObject(audio), ...sound },
    });
    for (const track of stream.getTracks()) {
      const ends = new EventTarget();
      const add = track.addEventListener.bind(track);
      track.addEventListener = (type: string, ...listener: Listener) => {
        add(type, ...listener);
        if (type === 'ended') ends.addEventListener(type, ...listener);
      };
      given.set(track, ends);
    }
    return stream;
  };
  Object.assign(globalThis, { parleyTracks: given });
}

type Listener = [EventListenerOrEventListenerObject, (boolean | AddEventListenerOptions)?];
/** With what the page does at the end of each: Firefox hands its listeners on tracks no event that a script makes. */
type GivenTracks = Map<MediaStreamTrack, EventTarget>;

/** Ends camera and microphone of the page, as when they are unplugged. */
export function unplug(page: AnyPage): Promise<void> {
  return page.evaluate(() => {
    const { parleyTracks } = globalThis as unknown as { parleyTracks: GivenTracks };
    const lost = [...parleyTracks];
    parleyTracks.clear();
    for (const [track, ends] of lost) {
      track.stop();
      ends.dispatchEvent(new Event('ended'));
    }
  });
}

/** Keeps every RTCPeerConnection the page makes where a test can ask for its statistics. Runs in the page. */
export function watchConnections(): void {
  const made: RTCPeerConnection[] = [];
  const Real = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends Real {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      made.push(this);
    }
  };
  Object.assign(globalThis, { parleyConnections: made });
}
