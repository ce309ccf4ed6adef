/**
 * Fake RTCPeerConnections with data channels, as far as pages use them: offer and answer by number, candidates, messages that take time on
 * the sender's uplink, and a close that the other side detects.
 */
import type { FakeClock } from '../../fakes/clock.ts';

export interface Uplink {
  /** Bytes per ms. */
  rate: number;
  busyUntil: number;
}

export interface Net {
  readonly clock: FakeClock;
  /** The path between two tabs; `null`: none. */
  path(one: string, other: string): 'host' | 'relay' | null;
  readonly all: FakeConnection[];
}

const LATENCY_MS = 20;
const ICE_MS = 60;
const FAILS_MS = 3000;

export class FakeConnection extends EventTarget {
  connectionState: RTCPeerConnectionState = 'new';
  iceGatheringState: RTCIceGatheringState = 'new';
  localDescription: { type: string; sdp: string } | null = null;
  readonly tab: string;
  readonly candidates: RTCIceCandidateInit[] = [];
  channel: FakeChannel | null = null;
  readonly configuration: RTCConfiguration | undefined;
  readonly #net: Net;
  readonly #number: number;
  readonly #uplink: Uplink;
  #far: FakeConnection | null = null;
  #path: 'host' | 'relay' | null = null;

  /** Without a configuration it has all servers. */
  constructor(net: Net, tab: string, uplink: Uplink, configuration?: RTCConfiguration) {
    super();
    this.configuration = configuration;
    this.#net = net;
    this.tab = tab;
    this.#uplink = uplink;
    this.#number = net.all.length;
    net.all.push(this);
  }

  createDataChannel(label: string): FakeChannel {
    this.channel = new FakeChannel(label, this.#net.clock, this.#uplink);
    return this.channel;
  }

  setLocalDescription(): Promise<void> {
    const type = this.#far === null ? 'offer' : 'answer';
    this.localDescription = { type, sdp: `${type} ${this.#number}` };
    this.#net.clock.after(5, () => {
      const host = { candidate: 'candidate:host', type: 'host', sdpMid: '0' };
      this.dispatchEvent(Object.assign(new Event('icecandidate'), { candidate: host }));
      this.iceGatheringState = 'complete';
      this.dispatchEvent(Object.assign(new Event('icecandidate'), { candidate: null }));
    });
    return Promise.resolve();
  }

  setRemoteDescription({ sdp }: { sdp: string }): Promise<void> {
    const number = Number(/^(?:offer|answer) (\d+)$/.exec(sdp)?.[1]);
    const far = this.#net.all[number];
    if (far === undefined) return Promise.reject(new DOMException('no description', 'OperationError'));
    this.#far = far;
    if (sdp.startsWith('answer')) this.#connect(far);
    return Promise.resolve();
  }

  addIceCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    this.candidates.push(candidate);
    return Promise.resolve();
  }

  getStats(): Promise<Map<string, unknown>> {
    return Promise.resolve(
      new Map<string, unknown>([
        ['p', { type: 'candidate-pair', state: 'succeeded', selected: true, localCandidateId: 'l' }],
        ['l', { type: 'local-candidate', candidateType: this.#path }],
      ]),
    );
  }

  close(): void {
    if (this.connectionState === 'closed') return;
    this.connectionState = 'closed';
    this.channel?.close();
  }

  /** The tab or its network ended without a message. */
  vanish(): void {
    if (this.channel !== null) this.channel.far = null;
    if (this.#far?.channel) this.#far.channel.far = null;
  }

  #connect(far: FakeConnection): void {
    this.#path = this.#net.path(this.tab, far.tab);
    if (this.#path === 'relay' && ![this, far].some(mayRelay)) this.#path = null;
    far.#path = this.#path;
    this.#net.clock.after(this.#path === null ? FAILS_MS : ICE_MS, () => {
      if (this.connectionState === 'closed' || far.connectionState === 'closed') return;
      if (this.#path === null) {
        this.#to('failed');
        far.#to('failed');
        return;
      }
      const own = this.channel;
      if (own === null) throw new Error('no channel was offered');
      const other = new FakeChannel(own.label, this.#net.clock, far.#uplink);
      far.channel = other;
      own.far = other;
      other.far = own;
      this.#to('connected');
      far.#to('connected');
      far.dispatchEvent(Object.assign(new Event('datachannel'), { channel: other }));
      own.open();
      other.open();
    });
  }

  #to(state: RTCPeerConnectionState): void {
    if (this.connectionState === 'closed') return;
    this.connectionState = state;
    this.dispatchEvent(new Event('connectionstatechange'));
  }
}

/** A site without servers does not restrict connections by them. */
function mayRelay({ configuration }: FakeConnection): boolean {
  const servers = configuration?.iceServers ?? [];
  return (
    servers.length === 0 || servers.some(({ urls }) => [urls].flat().some((url) => url.startsWith('turn')))
  );
}

export class FakeChannel extends EventTarget {
  readonly label: string;
  binaryType = 'blob';
  readyState: RTCDataChannelState = 'connecting';
  bufferedAmount = 0;
  bufferedAmountLowThreshold = 0;
  far: FakeChannel | null = null;
  /** The maximum of bytes that ever waited here. */
  mostBuffered = 0;
  readonly #clock: FakeClock;
  readonly #uplink: Uplink;

  constructor(label: string, clock: FakeClock, uplink: Uplink) {
    super();
    this.label = label;
    this.#clock = clock;
    this.#uplink = uplink;
  }

  open(): void {
    if (this.readyState !== 'connecting') return;
    this.readyState = 'open';
    this.dispatchEvent(new Event('open'));
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== 'open') throw new DOMException('not open', 'InvalidStateError');
    const size = data.length;
    this.bufferedAmount += size;
    this.mostBuffered = Math.max(this.mostBuffered, this.bufferedAmount);
    const now = this.#clock.now();
    this.#uplink.busyUntil = Math.max(now, this.#uplink.busyUntil) + size / this.#uplink.rate;
    const copy = typeof data === 'string' ? data : data.slice().buffer;
    const { far } = this;
    this.#clock.after(this.#uplink.busyUntil - now, () => {
      const above = this.bufferedAmount > this.bufferedAmountLowThreshold;
      this.bufferedAmount -= size;
      if (above && this.bufferedAmount <= this.bufferedAmountLowThreshold) {
        this.dispatchEvent(new Event('bufferedamountlow'));
      }
    });
    this.#clock.after(this.#uplink.busyUntil - now + LATENCY_MS, () => {
      if (far?.far === null || far?.readyState !== 'open') return;
      far.dispatchEvent(Object.assign(new Event('message'), { data: copy }));
    });
  }

  /** Messages sent before still arrive. */
  close(): void {
    if (this.readyState === 'closed') return;
    this.readyState = 'closed';
    const { far } = this;
    this.#clock.after(Math.max(0, this.#uplink.busyUntil - this.#clock.now()) + LATENCY_MS, () => {
      if (far === null || far.readyState === 'closed') return;
      far.readyState = 'closed';
      far.dispatchEvent(new Event('close'));
    });
  }
}
