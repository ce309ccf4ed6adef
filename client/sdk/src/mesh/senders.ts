/**
 * The media that one connection sends: microphone and camera on transceivers that exist for its whole life (mute is `replaceTrack(null)`, which
 * needs no negotiation), the screen on its own, added at first use. Only the starter of a session creates the first two; the other side uses the
 * transceivers of the offer, because transceivers created on both sides would appear twice in the session.
 */
import type { Budget, VideoBudget } from './budget.ts';
import type { LocalMedia, Role } from '../media.ts';
import type { RoleOfMid } from './payload.ts';

/** The media and its bit rates on one connection. */
export interface Outgoing extends LocalMedia {
  readonly budget: Budget;
}

/** Empty streams that give our tracks a common id in the session description: receivers synchronize audio and video of one id. */
export interface StreamNames {
  readonly person: MediaStream;
  readonly screen: MediaStream;
}

export class Senders {
  readonly #connection: RTCPeerConnection;
  readonly #names: StreamNames;
  readonly #transceivers = new Map<Role, RTCRtpTransceiver>();
  readonly #sent = new Map<Role, MediaStreamTrack | null>();
  #media: Outgoing;

  constructor(connection: RTCPeerConnection, names: StreamNames, media: Outgoing) {
    this.#connection = connection;
    this.#names = names;
    this.#media = media;
  }

  /** The first step of the starter: the browser then fires `negotiationneeded`. */
  open(): void {
    const streams = [this.#names.person];
    for (const [role, kind] of [
      ['microphone', 'audio'],
      ['camera', 'video'],
    ] as const) {
      this.#transceivers.set(role, this.#connection.addTransceiver(kind, { direction: 'sendrecv', streams }));
    }
    this.#apply();
  }

  /** The other side's first step, between a remote offer and the answer. Later offers change nothing here. */
  adopt(remote: readonly RoleOfMid[]): void {
    for (const { mid, role } of remote) {
      if ((role !== 'microphone' && role !== 'camera') || this.#transceivers.has(role)) continue;
      const transceiver = this.#connection.getTransceivers().find((one) => one.mid === mid);
      if (transceiver === undefined || this.#isOurs(transceiver)) continue;
      if (transceiver.receiver.track.kind !== (role === 'camera' ? 'video' : 'audio')) continue;
      transceiver.direction = 'sendrecv';
      // Missing in some browsers: audio and video are then not synchronized.
      transceiver.sender.setStreams?.(this.#names.person);
      this.#transceivers.set(role, transceiver);
    }
    for (const role of ['microphone', 'camera'] as const) this.#put(role, this.#media[role]);
  }

  /** May be called at any time. */
  set(media: Outgoing): void {
    this.#media = media;
    this.#apply();
  }

  /** An exchange is complete: the screen, which waited for the first one, can be added, and encoders exist whose bit rate can be set. */
  settled(): void {
    this.#apply();
  }

  roles(): RoleOfMid[] {
    const roles: RoleOfMid[] = [];
    for (const [role, { mid }] of this.#transceivers) if (mid !== null) roles.push({ mid, role });
    return roles;
  }

  #apply(): void {
    const { microphone, camera, screen } = this.#media;
    this.#put('microphone', microphone);
    this.#put('camera', camera);
    this.#putScreen('screen', screen?.getVideoTracks()[0] ?? null);
    this.#putScreen('screen-audio', screen?.getAudioTracks()[0] ?? null);
    this.#bound('camera', this.#media.budget.camera);
    this.#bound('screen', this.#media.budget.screen);
  }

  /** Sets the bit rate of the encoder. Before the first exchange some browsers have no encoder; `settled` then repeats it. */
  #bound(role: 'camera' | 'screen', budget: VideoBudget): void {
    const sender = this.#transceivers.get(role)?.sender;
    const parameters = sender?.getParameters();
    const [encoding] = parameters?.encodings ?? [];
    if (sender === undefined || parameters === undefined || encoding === undefined) return;
    if (isWithin(encoding, budget)) return;
    Object.assign(encoding, budget);
    // Rejected if the connection is closed or renegotiating: the next exchange repeats it.
    sender.setParameters(parameters).catch(() => undefined);
  }

  #putScreen(role: 'screen' | 'screen-audio', track: MediaStreamTrack | null): void {
    const first = track !== null && !this.#transceivers.has(role) && this.#transceivers.has('camera');
    if (first) {
      const streams = [this.#names.screen];
      this.#transceivers.set(
        role,
        this.#connection.addTransceiver(track.kind, { direction: 'sendonly', streams }),
      );
    }
    this.#put(role, track);
  }

  #put(role: Role, track: MediaStreamTrack | null): void {
    const transceiver = this.#transceivers.get(role);
    if (transceiver === undefined || (this.#sent.get(role) ?? null) === track) return;
    this.#sent.set(role, track);
    // Rejected only if the connection was closed, or for a track of the wrong kind.
    transceiver.sender.replaceTrack(track).catch(() => undefined);
  }

  #isOurs(transceiver: RTCRtpTransceiver): boolean {
    return [...this.#transceivers.values()].includes(transceiver);
  }
}

function isWithin(encoding: RTCRtpEncodingParameters, budget: VideoBudget): boolean {
  return (
    encoding.maxBitrate === budget.maxBitrate &&
    encoding.scaleResolutionDownBy === budget.scaleResolutionDownBy &&
    encoding.maxFramerate === budget.maxFramerate
  );
}
