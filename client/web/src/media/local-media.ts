/**
 * The camera and microphone of the user, from the preview to the end of the call. A camera that is off is closed, so that its light goes out; a
 * muted microphone stays open but sends nothing, so that unmuting is immediate. An unplugged device is used again when it returns.
 */
import { computed, signal, type Signal } from '@preact/signals';
import { browserStore } from '../memory/storage.ts';
import { problemOf, type DevicePort, type MediaProblem } from './devices.ts';

export type Kind = 'camera' | 'microphone';
export type Source =
  | { readonly status: 'off' }
  | { readonly status: 'opening' }
  | { readonly status: 'live'; readonly track: MediaStreamTrack }
  | { readonly status: 'failed'; readonly problem: MediaProblem };

export interface Devices {
  readonly camera: readonly MediaDeviceInfo[];
  readonly microphone: readonly MediaDeviceInfo[];
  readonly speaker: readonly MediaDeviceInfo[];
}

/** 720p at 30: as much as a tile can show; a small call on a good connection needs no more. */
const VIDEO: MediaTrackConstraints = {
  width: { ideal: 1280 },
  height: { ideal: 720 },
  frameRate: { ideal: 30 },
};
const AUDIO: MediaTrackConstraints = {
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

const OFF: Source = { status: 'off' };
const LOST: Source = { status: 'failed', problem: 'lost' };
const key = (kind: Kind | 'speaker'): string => `parley.device.${kind}`;

export class LocalMedia {
  readonly camera: Signal<Source> = signal<Source>(OFF);
  readonly microphone: Signal<Source> = signal<Source>(OFF);
  readonly muted = signal(false);
  readonly devices = signal<Devices>({ camera: [], microphone: [], speaker: [] });
  readonly chosen = {
    camera: signal(browserStore.read(key('camera'))),
    microphone: signal(browserStore.read(key('microphone'))),
    speaker: signal(browserStore.read(key('speaker'))),
  };
  /** The track that is sent: `null` while muted or off. */
  readonly sendingMicrophone = computed(() => (this.muted.value ? null : liveTrack(this.microphone.value)));
  readonly sendingCamera = computed(() => liveTrack(this.camera.value));
  /** The camera shows what the user sees: its picture is not a mirror. */
  readonly cameraFacesAway = computed(() => facingOf(this.sendingCamera.value) === 'environment');

  readonly port: DevicePort;
  /** Devices that were unplugged while in use. */
  readonly #lost = new Map<Kind, string>();
  /** Grows with each request: a device that opens after a newer request is closed again. */
  readonly #requests: Record<Kind, number> = { camera: 0, microphone: 0 };
  /** The side of the phone that the user flipped to; `null`: the chosen camera, or that of the front. */
  #side: 'user' | 'environment' | null = null;
  readonly #stopWatching: () => void;
  #closed = false;

  constructor(port: DevicePort) {
    this.port = port;
    this.#stopWatching = port.watch(() => void this.#onDevicesChanged());
  }

  /** Opens both with one permission prompt; if that fails each separately, so that a missing camera does not prevent the microphone. */
  async begin(): Promise<void> {
    if (this.port.access !== 'yes') {
      const failed: Source = { status: 'failed', problem: this.port.access };
      this.camera.value = failed;
      this.microphone.value = failed;
      return;
    }
    const microphone = this.#request('microphone');
    const camera = this.#request('camera');
    try {
      const stream = await this.port.open({ audio: this.#audio(), video: this.#video() });
      this.#adopt('microphone', stream.getAudioTracks()[0], microphone);
      this.#adopt('camera', stream.getVideoTracks()[0], camera);
    } catch {
      if (this.#requests.microphone === microphone) await this.#open('microphone');
      if (this.#requests.camera === camera) await this.#open('camera');
    }
    await this.#list();
  }

  /** A microphone that the user turns on is unmuted. */
  async turnOn(kind: Kind): Promise<void> {
    if (kind === 'microphone') this.muted.value = false;
    await this.#open(kind);
  }

  async #open(kind: Kind): Promise<void> {
    const source = this[kind];
    if (source.value.status === 'live') return;
    if (this.port.access !== 'yes') {
      source.value = { status: 'failed', problem: this.port.access };
      return;
    }
    const request = this.#request(kind);
    try {
      this.#adopt(kind, (await this.#openChosen(kind)).getTracks()[0], request);
    } catch (error) {
      if (request === this.#requests[kind]) source.value = { status: 'failed', problem: problemOf(error) };
    }
    await this.#list();
  }

  /** Another device only where the chosen one is not there. */
  async #openChosen(kind: Kind): Promise<MediaStream> {
    const opens = (isChosen: boolean): Promise<MediaStream> =>
      this.port.open(kind === 'camera' ? { video: this.#video(isChosen) } : { audio: this.#audio(isChosen) });
    try {
      return await opens(true);
    } catch (error) {
      if (this.chosen[kind].value === null || problemOf(error) !== 'missing') throw error;
      return opens(false);
    }
  }

  #request(kind: Kind): number {
    this[kind].value = { status: 'opening' };
    this.#requests[kind] += 1;
    return this.#requests[kind];
  }

  turnOff(kind: Kind): void {
    const source = this[kind];
    this.#requests[kind] += 1;
    if (source.value.status === 'live') source.value.track.stop();
    source.value = OFF;
  }

  async toggleCamera(): Promise<void> {
    if (this.camera.value.status === 'live') this.turnOff('camera');
    else if (this.camera.value.status !== 'opening') await this.turnOn('camera');
  }

  async toggleMicrophone(): Promise<void> {
    if (this.microphone.value.status === 'live') this.muted.value = !this.muted.value;
    else if (this.microphone.value.status !== 'opening') await this.turnOn('microphone');
  }

  /** From the front camera of a phone to that of the back, and from any other to the front. */
  async flipCamera(): Promise<void> {
    const { value } = this.camera;
    if (value.status !== 'live') return;
    this.#side = facingOf(value.track) === 'environment' ? 'user' : 'environment';
    // Phones open one camera at a time.
    this.turnOff('camera');
    await this.#open('camera');
  }

  /** Selects another device; takes effect at once if the old one is on. A muted user stays muted. */
  async choose(kind: Kind | 'speaker', id: string): Promise<void> {
    this.chosen[kind].value = id;
    if (kind === 'camera') this.#side = null;
    browserStore.write(key(kind), id);
    if (kind === 'speaker' || this[kind].value.status === 'off') return;
    this.turnOff(kind);
    await this.#open(kind);
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching();
    this.turnOff('camera');
    this.turnOff('microphone');
  }

  #adopt(kind: Kind, track: MediaStreamTrack | undefined, request = this.#requests[kind]): void {
    if (request !== this.#requests[kind]) {
      track?.stop();
      return;
    }
    if (this.#closed || !track) {
      track?.stop();
      this[kind].value = this.#closed ? OFF : { status: 'failed', problem: 'missing' };
      return;
    }
    // Firefox has no settings of a track that has ended.
    const { deviceId = '' } = track.getSettings();
    track.addEventListener('ended', () => {
      const now = this[kind].value;
      if (now.status !== 'live' || now.track !== track) return;
      this[kind].value = LOST;
      this.#lost.set(kind, deviceId);
      void this.#onDevicesChanged();
    });
    this[kind].value = { status: 'live', track };
  }

  /** Devices were added or removed. */
  async #onDevicesChanged(): Promise<void> {
    await this.#list();
    await Promise.all([this.#replace('microphone'), this.#replace('camera')]);
  }

  /** Any microphone may replace a lost one. Another camera may show something private: only the same one is opened again. */
  async #replace(kind: Kind): Promise<void> {
    const lost = this.#lost.get(kind) ?? '';
    const isCamera = kind === 'camera';
    const fits = this.devices.value[kind].some(({ deviceId }) => !isCamera || deviceId === lost);
    if (this[kind].value !== LOST || !fits) return;
    const opening = isCamera
      ? this.port.open({ video: { ...VIDEO, deviceId: { exact: lost } } })
      : this.#openChosen('microphone');
    const found = await opening.catch(() => null);
    const [track] = found?.getTracks() ?? [];
    if (this[kind].value !== LOST) track?.stop();
    else if (track !== undefined) this.#adopt(kind, track);
  }

  /** Chromium 156 opens its default microphone, with its made-up devices at least, where another one is only preferred (`ideal`). */
  #video(isChosen = true): MediaTrackConstraints {
    if (this.#side !== null) return { ...VIDEO, facingMode: this.#side };
    const id = isChosen ? this.chosen.camera.value : null;
    return id === null ? { ...VIDEO, facingMode: 'user' } : { ...VIDEO, deviceId: { exact: id } };
  }

  #audio(isChosen = true): MediaTrackConstraints {
    const id = isChosen ? this.chosen.microphone.value : null;
    return id === null ? AUDIO : { ...AUDIO, deviceId: { exact: id } };
  }

  async #list(): Promise<void> {
    // Without permission devices have neither id nor label: there is no choice.
    const found = (await this.port.list()).filter((device) => device.deviceId !== '');
    this.devices.value = {
      camera: found.filter((device) => device.kind === 'videoinput'),
      microphone: found.filter((device) => device.kind === 'audioinput'),
      speaker: found.filter((device) => device.kind === 'audiooutput'),
    };
  }
}

/** A device that is still opening joins the call as soon as it is ready. */
export const isWanted = ({ status }: Source): boolean => status === 'live' || status === 'opening';

const liveTrack = (source: Source): MediaStreamTrack | null =>
  source.status === 'live' ? source.track : null;

const facingOf = (track: MediaStreamTrack | null): string | undefined => track?.getSettings().facingMode;
