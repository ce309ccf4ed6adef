/**
 * A fake RTCPeerConnection that implements negotiation: signalling states with rollback (JSEP, RFC 9429), transceivers and mids, the
 * negotiation-needed event, trickled candidates, ICE restart. Two of them are connected when each has the other's current description and
 * one of them received a candidate. Operations in a wrong state fail, as in a browser.
 */
import type { Clock } from '../../src/ports.ts';
import { fakeTrack } from './media.ts';

interface Transceiver {
  mid: string | null;
  direction: RTCRtpTransceiverDirection;
  /** The last negotiated description; `null` before the first. */
  agreed: RTCRtpTransceiverDirection | null;
  readonly kind: 'audio' | 'video';
  readonly sender: {
    track: MediaStreamTrack | null;
    replaceTrack(track: MediaStreamTrack | null): Promise<void>;
    getParameters(): RTCRtpSendParameters;
    setParameters(parameters: RTCRtpSendParameters): Promise<void>;
    setStreams(): void;
  };
  readonly receiver: {
    readonly track: MediaStreamTrack;
    getSynchronizationSources(): { timestamp: number }[];
  };
}

type Description = { readonly type: RTCSdpType; readonly sdp: string };

/** The network between all fake connections of a test. */
export class Fabric {
  readonly all: FakePeerConnection[] = [];
  readonly clock: Clock;
  #up = true;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get live(): FakePeerConnection[] {
    return this.all.filter(({ signalingState }) => signalingState !== 'closed');
  }

  create(configuration: RTCConfiguration = {}): RTCPeerConnection {
    const made = new FakePeerConnection(this, configuration);
    this.all.push(made);
    return made as unknown as RTCPeerConnection;
  }

  /** Media stops: connections detect it, and ICE finds a new path after the fabric is repaired and ICE is restarted. */
  cut(): void {
    this.#up = false;
    for (const one of this.live) {
      one.broken = true;
      one.setState('disconnected');
    }
  }

  /** Packets stop, and ICE does not detect it: only ICE restarts restore them. */
  countNoise(restarts = 1): void {
    for (const one of this.live) one.hushed = restarts;
  }

  mend(): void {
    this.#up = true;
  }

  settle(): void {
    if (!this.#up) return;
    for (const one of this.live) {
      const other = this.live.find(
        (far) => far !== one && far.fragment === one.farFragment && one.fragment === far.farFragment,
      );
      if (
        other === undefined ||
        one.broken ||
        other.broken ||
        !(one.receivedCandidate || other.receivedCandidate)
      )
        continue;
      one.setState('connected');
      other.setState('connected');
    }
  }
}

let fragments = 0;

export class FakePeerConnection extends EventTarget {
  signalingState: RTCSignalingState = 'stable';
  connectionState: RTCPeerConnectionState = 'new';
  currentLocalDescription: Description | null = null;
  currentRemoteDescription: Description | null = null;
  fragment = '';
  farFragment = '';
  receivedCandidate = false;
  /** The path is lost; only an ICE restart restores it. */
  broken = false;
  /** The number of restarts until packets arrive again. */
  hushed = 0;
  #receivedAt: number | undefined;
  readonly #fabric: Fabric;
  #configuration: RTCConfiguration;
  #transceivers: Transceiver[] = [];
  #pendingLocal: Description | null = null;
  #pendingRemote: Description | null = null;
  #midCount = 0;
  #tentative: Transceiver[] = [];
  #restart = false;
  #checking = false;

  constructor(fabric: Fabric, configuration: RTCConfiguration) {
    super();
    this.#fabric = fabric;
    this.#configuration = configuration;
  }

  get localDescription(): Description | null {
    return this.#pendingLocal ?? this.currentLocalDescription;
  }

  getTransceivers(): Transceiver[] {
    return [...this.#transceivers];
  }

  addTransceiver(kind: 'audio' | 'video', init: { direction: RTCRtpTransceiverDirection }): Transceiver {
    const made = transceiver(kind, init.direction, () => this.#packets());
    this.#transceivers.push(made);
    this.#checkNeeded();
    return made;
  }

  restartIce(): void {
    this.#restart = true;
    this.#checkNeeded();
  }

  getConfiguration(): RTCConfiguration {
    return this.#configuration;
  }

  /** As browsers: the certificates of a connection do not change. */
  setConfiguration(configuration: RTCConfiguration): void {
    const [before, after] = [this.#configuration, configuration].map(({ certificates = [] }) => certificates);
    if (before?.length !== after?.length || before?.some((one, at) => one !== after?.[at]) === true)
      throw new DOMException('certificates differ', 'InvalidModificationError');
    this.#configuration = configuration;
  }

  getStats(): Promise<Map<string, unknown>> {
    return Promise.resolve(new Map());
  }

  async setLocalDescription(): Promise<void> {
    await Promise.resolve();
    if (this.signalingState === 'have-remote-offer') {
      for (const line of linesOf(this.#pendingRemote)) this.#agree(line.mid);
      this.currentLocalDescription = this.#describe(
        'answer',
        linesOf(this.#pendingRemote).map(({ mid }) => mid),
      );
      this.currentRemoteDescription = this.#pendingRemote;
      this.#pendingRemote = null;
      this.#to('stable');
    } else if (this.signalingState === 'stable') {
      if (this.#restart || this.fragment === '') this.#freshFragment();
      this.#restart = false;
      for (const one of this.#transceivers) {
        if (one.mid !== null) continue;
        // A mid that the other side does not choose: both sides increment the counter.
        one.mid = `${this.#midCount}`;
        this.#midCount += 1;
        this.#tentative.push(one);
      }
      this.#pendingLocal = this.#describe(
        'offer',
        this.#transceivers.flatMap(({ mid }) => mid ?? []),
      );
      this.#to('have-local-offer');
    } else throw new DOMException('wrong state', 'InvalidStateError');
    this.#gather();
  }

  async setRemoteDescription(description: Description): Promise<void> {
    await Promise.resolve();
    if (this.signalingState === 'closed') throw new DOMException('closed', 'InvalidStateError');
    const lines = linesOf(description);
    if (description.type === 'offer') {
      if (this.signalingState === 'have-local-offer') this.#rollback();
      this.#pendingRemote = description;
      for (const { mid, kind } of lines) {
        if (this.#transceivers.some((one) => one.mid === mid)) continue;
        const made = transceiver(kind, 'recvonly', () => this.#packets());
        made.mid = mid;
        this.#midCount = Math.max(this.#midCount, Number(mid) + 1);
        this.#transceivers.push(made);
      }
      const far = fragmentOf(description.sdp);
      // A restart by the other side restarts us too.
      if (this.fragment === '' || (this.farFragment !== '' && far !== this.farFragment))
        this.#freshFragment();
      this.#setFar(far);
      this.#to('have-remote-offer');
    } else {
      if (this.signalingState !== 'have-local-offer') throw new DOMException('no offer', 'InvalidStateError');
      const offered = linesOf(this.#pendingLocal).map(({ mid }) => mid);
      if (offered.join() !== lines.map(({ mid }) => mid).join())
        throw new DOMException('sections do not match', 'InvalidAccessError');
      for (const mid of offered) this.#agree(mid);
      this.currentLocalDescription = this.#pendingLocal;
      this.currentRemoteDescription = description;
      this.#pendingLocal = null;
      this.#tentative = [];
      this.#setFar(fragmentOf(description.sdp));
      this.#to('stable');
    }
    if (/^a=candidate/m.test(description.sdp)) this.receivedCandidate = true;
    this.#fabric.settle();
  }

  addIceCandidate({ usernameFragment }: RTCIceCandidateInit): Promise<void> {
    if (usernameFragment !== this.farFragment)
      return Promise.reject(new DOMException('unknown ufrag', 'OperationError'));
    this.receivedCandidate = true;
    this.#fabric.settle();
    return Promise.resolve();
  }

  close(): void {
    this.signalingState = 'closed';
    this.connectionState = 'closed';
  }

  setState(state: RTCPeerConnectionState): void {
    if (this.connectionState === state || this.connectionState === 'closed') return;
    this.connectionState = state;
    this.dispatchEvent(new Event('connectionstatechange'));
  }

  #freshFragment(): void {
    fragments += 1;
    this.fragment = `f${fragments}`;
    this.receivedCandidate = false;
  }

  #setFar(fragment: string): void {
    if (fragment === this.farFragment) return;
    this.farFragment = fragment;
    this.receivedCandidate = false;
    this.broken = false;
    this.hushed = Math.max(0, this.hushed - 1);
  }

  /** An audio packet arrives continuously while there is a path. */
  #packets(): { timestamp: number }[] {
    if (this.connectionState === 'connected' && this.hushed === 0)
      this.#receivedAt = this.#fabric.clock.now();
    return this.#receivedAt === undefined ? [] : [{ timestamp: this.#receivedAt }];
  }

  #agree(mid: string): void {
    const one = this.#transceivers.find((each) => each.mid === mid);
    if (one !== undefined) one.agreed = one.direction;
  }

  #rollback(): void {
    for (const one of this.#tentative) one.mid = null;
    this.#midCount -= this.#tentative.length;
    this.#tentative = [];
    this.#pendingLocal = null;
  }

  #describe(type: RTCSdpType, mids: string[]): Description {
    const lines = mids.map((mid) => {
      const one = this.#transceivers.find((each) => each.mid === mid);
      return `m=${one?.kind ?? 'audio'} ${mid}`;
    });
    return { type, sdp: [`a=ice-ufrag:${this.fragment}`, ...lines].join('\n') };
  }

  #gather(): void {
    const usernameFragment = this.fragment;
    for (const wait of [2, 40]) {
      this.#fabric.clock.after(wait, () => {
        if (this.signalingState === 'closed' || usernameFragment !== this.fragment) return;
        const candidate = { candidate: `candidate:${wait}`, sdpMid: '0', sdpMLineIndex: 0, usernameFragment };
        this.dispatchEvent(Object.assign(new Event('icecandidate'), { candidate }));
      });
    }
  }

  #to(state: RTCSignalingState): void {
    if (this.signalingState === 'closed') return;
    this.signalingState = state;
    if (state === 'stable') this.#checkNeeded();
  }

  #checkNeeded(): void {
    if (this.#checking) return;
    this.#checking = true;
    queueMicrotask(() => {
      this.#checking = false;
      const needed =
        this.#restart || this.#transceivers.some(({ agreed, direction }) => agreed !== direction);
      if (needed && this.signalingState === 'stable') this.dispatchEvent(new Event('negotiationneeded'));
    });
  }
}

function transceiver(
  kind: 'audio' | 'video',
  direction: RTCRtpTransceiverDirection,
  getSynchronizationSources: Transceiver['receiver']['getSynchronizationSources'],
): Transceiver {
  let parameters = { encodings: [{}] } as RTCRtpSendParameters;
  const sender: Transceiver['sender'] = {
    track: null,
    replaceTrack: (track) => {
      sender.track = track;
      return Promise.resolve();
    },
    getParameters: () => structuredClone(parameters),
    setParameters: (next) => {
      parameters = next;
      return Promise.resolve();
    },
    setStreams: () => undefined,
  };
  const receiver = { track: fakeTrack(kind), getSynchronizationSources };
  return { mid: null, direction, agreed: null, kind, sender, receiver };
}

function linesOf(description: Description | null): { kind: 'audio' | 'video'; mid: string }[] {
  return [...(description?.sdp ?? '').matchAll(/^m=(audio|video) (\S+)/gm)].map(([, kind, mid]) => ({
    kind: kind === 'video' ? 'video' : 'audio',
    mid: mid ?? '',
  }));
}

const fragmentOf = (sdp: string): string => /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? '';
