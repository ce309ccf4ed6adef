/** Real browsers with made-up cameras and microphones. */
import { chromium, type Browser, type BrowserContext } from 'playwright-core';

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

export const chromiumPath = process.env['PARLEY_CHROMIUM'] ?? '/usr/bin/chromium';
export const firefoxPath = process.env['PARLEY_FIREFOX'] ?? '/usr/bin/firefox-esr';

/** `executable` may be a wrapper that starts Chromium elsewhere, in a network namespace for example. */
export function launchChromium(
  options: { executable?: string; args?: readonly string[] } = {},
): Promise<Browser> {
  return chromium.launch({
    executablePath: options.executable ?? chromiumPath,
    args: [...FAKE_DEVICES, ...QUIET, ...(options.args ?? [])],
  });
}

/** One person's browser profile: cookies and storage of its own. `affinity` lets the edge choose another pod. */
export async function newProfile(
  browser: Browser,
  origin: string,
  affinity?: string,
): Promise<BrowserContext> {
  const profile = await browser.newContext({
    permissions: ['camera', 'microphone'],
    ignoreHTTPSErrors: true,
    viewport: { width: 900, height: 640 },
  });
  if (affinity !== undefined)
    await profile.addCookies([{ name: 'parley-affinity', value: affinity, url: origin }]);
  await profile.addInitScript(watchConnections);
  await profile.addInitScript(giveSmallCamera);
  return profile;
}

/** A camera of 320 x 180: the page asks for 1280 x 720, of which two cores cannot encode what four people send. Runs in the page. */
function giveSmallCamera(): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = (asked = {}) => {
    const video = typeof asked.video === 'object' ? asked.video : {};
    return real(asked.video ? { ...asked, video: { ...video, width: 320, height: 180 } } : asked);
  };
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
