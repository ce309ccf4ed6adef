/** One RTCPeerConnection with one data channel, from offer or answer to its end. Never reused. SPEC rule PAGE-14. */
import type { Clock } from '../ports.ts';
import { read } from '../mesh/quality.ts';
import type { Wire, WireEnd } from './wire.ts';

export interface DataChannelOptions {
  readonly clock: Clock;
  readonly createConnection: (configuration: RTCConfiguration) => RTCPeerConnection;
  readonly configuration: RTCConfiguration;
  /** The timeout from the remote description to the open channel. */
  readonly connectMs: number;
  /** The caller adds `link` to each signal. */
  send(signal: Signal): void;
}

export type Signal =
  | { readonly type: 'offer'; readonly sdp: string }
  | { readonly type: 'answer'; readonly sdp: string }
  | { readonly type: 'candidate'; readonly candidate: string; readonly mid: string | null };

export const LABEL = 'parley-page';
/** Most candidates are known by then and are sent with the description: a pod limits messages. */
const GATHER_MS = 100;
const CANDIDATES = 64;
/** Most `disconnected` states recover within this time. */
const HEAL_MS = 5000;
const LOW_BYTES = 256 * 1024;
/** Leaves time for the last messages. */
const LINGER_MS = 500;

export class DataChannel {
  readonly #options: DataChannelOptions;
  readonly #end: WireEnd;
  readonly #connection: RTCPeerConnection;
  #channel: RTCDataChannel | null = null;
  #opened = false;
  #ended = false;
  #described = false;
  /** Candidates that arrived before their description. */
  #early: RTCIceCandidateInit[] | null = [];
  #received = 0;
  #sent = 0;
  #cancelConnect: () => void = () => undefined;
  #cancelGather: () => void = () => undefined;
  #cancelHeal: () => void = () => undefined;

  constructor(options: DataChannelOptions, end: WireEnd) {
    this.#options = options;
    this.#end = end;
    this.#connection = options.createConnection(options.configuration);
    this.#connection.addEventListener('connectionstatechange', () => this.#stateChanged());
    this.#connection.addEventListener('icecandidate', ({ candidate }) => this.#gathered(candidate));
  }

  offer(): void {
    this.#adopt(this.#connection.createDataChannel(LABEL, { ordered: true }));
    this.#do(
      async () => this.#connection.setLocalDescription(),
      () => this.#describeSoon((sdp) => ({ type: 'offer', sdp })),
    );
  }

  takeOffer(sdp: string): void {
    this.#connectSoon();
    this.#connection.addEventListener('datachannel', ({ channel }) => {
      if (this.#channel === null && channel.label === LABEL) this.#adopt(channel);
      else channel.close();
    });
    const answer = async (): Promise<void> => {
      await this.#connection.setRemoteDescription({ type: 'offer', sdp });
      await this.#flushEarly();
      await this.#connection.setLocalDescription();
    };
    this.#do(answer, () => this.#describeSoon((sdp) => ({ type: 'answer', sdp })));
  }

  takeAnswer(sdp: string): void {
    this.#connectSoon();
    const take = async (): Promise<void> => {
      await this.#connection.setRemoteDescription({ type: 'answer', sdp });
      await this.#flushEarly();
    };
    this.#do(take, () => undefined);
  }

  takeCandidate(candidate: string, mid: string | null): void {
    this.#received += 1;
    if (this.#received > CANDIDATES || this.#ended) return;
    const init = { candidate, sdpMid: mid };
    if (this.#early !== null) this.#early.push(init);
    // A candidate that this browser cannot use does not fail the connection.
    else this.#connection.addIceCandidate(init).catch(() => undefined);
  }

  /** `null` while no candidate pair is selected. */
  async path(): Promise<'direct' | 'turn' | null> {
    const report = await this.#connection.getStats().catch(() => undefined);
    const reading = report === undefined ? undefined : read(report);
    return reading === undefined ? null : reading.path === 'direct' ? 'direct' : 'turn';
  }

  close(): void {
    if (this.#ended) return;
    this.#finish();
    this.#channel?.close();
    if (this.#opened) this.#options.clock.after(LINGER_MS, () => this.#connection.close());
    else this.#connection.close();
  }

  #connectSoon(): void {
    const { clock, connectMs } = this.#options;
    this.#cancelConnect();
    this.#cancelConnect = clock.after(connectMs, () => this.#lost());
  }

  #adopt(channel: RTCDataChannel): void {
    this.#channel = channel;
    channel.binaryType = 'arraybuffer';
    channel.bufferedAmountLowThreshold = LOW_BYTES;
    channel.addEventListener('open', () => this.#open(channel));
    channel.addEventListener('close', () => this.#lost());
    channel.addEventListener('bufferedamountlow', () => {
      if (!this.#ended) this.#end.onDrained();
    });
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (this.#ended) return;
      if (typeof data === 'string') this.#end.onText(data);
      else if (data instanceof ArrayBuffer) this.#end.onBinary(new Uint8Array(data));
    });
    if (channel.readyState === 'open') this.#open(channel);
  }

  #open(channel: RTCDataChannel): void {
    if (this.#opened || this.#ended) return;
    this.#opened = true;
    this.#cancelConnect();
    this.#end.onOpen(this.#wire(channel));
  }

  #wire(channel: RTCDataChannel): Wire {
    return {
      buffered: () => channel.bufferedAmount,
      close: () => this.close(),
      send: (data) => {
        try {
          // One call per type, because the browser declares overloads.
          if (typeof data === 'string') channel.send(data);
          else channel.send(data);
        } catch {
          this.#lost();
        }
      },
    };
  }

  #do(task: () => Promise<void>, then: () => void): void {
    task().then(
      () => {
        if (!this.#ended) then();
      },
      // The browser refused the description.
      () => this.#lost(),
    );
  }

  async #flushEarly(): Promise<void> {
    const early = this.#early ?? [];
    this.#early = null;
    for (const one of early) await this.#connection.addIceCandidate(one).catch(() => undefined);
  }

  /** Timers in a background tab may be a minute late: the first server-reflexive or relayed candidate is as good a sign. */
  #describeSoon(signal: (sdp: string) => Signal): void {
    const describe = (): void => {
      const sdp = this.#connection.localDescription?.sdp;
      if (this.#ended || this.#described || sdp === undefined) return;
      this.#described = true;
      this.#cancelGather();
      this.#options.send(signal(sdp));
    };
    this.#connection.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate === null || candidate.type !== 'host') describe();
    });
    if (this.#connection.iceGatheringState === 'complete') describe();
    else this.#cancelGather = this.#options.clock.after(GATHER_MS, describe);
  }

  /** Candidates that are known before the description is sent are in it. */
  #gathered(candidate: RTCIceCandidate | null): void {
    this.#sent += 1;
    if (!this.#described || this.#ended || this.#sent > CANDIDATES) return;
    this.#options.send({
      type: 'candidate',
      candidate: candidate?.candidate ?? '',
      mid: candidate?.sdpMid ?? null,
    });
  }

  #stateChanged(): void {
    const state = this.#connection.connectionState;
    this.#cancelHeal();
    if (state === 'failed' || state === 'closed') this.#lost();
    else if (state === 'disconnected')
      this.#cancelHeal = this.#options.clock.after(HEAL_MS, () => this.#lost());
  }

  #lost(): void {
    if (this.#ended) return;
    this.#finish();
    this.#connection.close();
    this.#end.onLost();
  }

  #finish(): void {
    this.#ended = true;
    this.#cancelConnect();
    this.#cancelGather();
    this.#cancelHeal();
  }
}
