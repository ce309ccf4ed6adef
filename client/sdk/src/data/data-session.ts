/** The data of an application in a call. Channels are read here; the code to send, and to read what comes through the service, is loaded when it is first needed. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Member } from '@parley/protocol/people';
import type { DataListener, SendOptions } from '../call.ts';
import type { Mesh } from '../mesh/mesh.ts';
import type { DataSignal } from '../mesh/payload.ts';
import type { Ports } from '../ports.ts';
import type { CallData } from './call-data.ts';
import { isTooLong, LABELS, MAX_DATA_BYTES, type Data } from './data.ts';

export interface DataSessionOptions {
  readonly room: string;
  readonly ports: Ports;
  readonly mesh: Mesh;
  readonly me: () => ParticipantId | null;
  /** The others in the room; none before the welcome. */
  readonly members: () => ReadonlyMap<ParticipantId, Member>;
}

export class DataSession {
  /** The end-to-end key of the room's link. */
  secret: string | null;
  readonly #options: DataSessionOptions;
  readonly #listeners = new Set<DataListener>();
  #loaded: Promise<CallData> | null = null;

  constructor(secret: string | null, options: DataSessionOptions) {
    this.secret = secret;
    this.#options = options;
  }

  async send(data: Data, { to, reliable = true }: SendOptions = {}): Promise<readonly ParticipantId[]> {
    if (isTooLong(data)) throw new RangeError(`data of more than ${MAX_DATA_BYTES} bytes`);
    const readers: ParticipantId[] = [];
    for (const { participant, state } of this.#options.members().values())
      if (state === 'here' && (to === undefined || participant === to)) readers.push(participant);
    if (readers.length === 0) return [];
    // The application may change the array meanwhile.
    const copy = typeof data === 'string' ? data : data.slice();
    return (await this.#load()).send(readers, copy, reliable ? 'reliable' : 'lossy');
  }

  listen(listener: DataListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What another participant sent through the service. */
  receive(from: ParticipantId, signal: DataSignal): void {
    if (this.#listeners.size > 0) this.#whenLoaded(this.#load(), (data) => data.receive(from, signal));
  }

  /** The other side of a link opened a channel. */
  read(from: ParticipantId, channel: RTCDataChannel): void {
    if (!LABELS.includes(channel.label)) return channel.close();
    channel.binaryType = 'arraybuffer';
    channel.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      const received = typeof data === 'string' ? data : new Uint8Array(data);
      if (!isTooLong(received)) this.#pass(from, received);
    });
  }

  close(): void {
    if (this.#loaded !== null) this.#whenLoaded(this.#loaded, (data) => data.close());
  }

  /** Where the code does not load, the next call tries again. */
  #load(): Promise<CallData> {
    this.#loaded ??= this.#create().catch((error: unknown) => {
      this.#loaded = null;
      throw error;
    });
    return this.#loaded;
  }

  async #create(): Promise<CallData> {
    const { room, ports, mesh, me } = this.#options;
    const { CallData: Loaded } = await import('./call-data.ts');
    return new Loaded({
      room,
      ...ports,
      me,
      secret: () => this.secret,
      openChannel: (to, ...channel) => mesh.link(to)?.openChannel(...channel) ?? null,
      sendSignal: (to, signal) => mesh.sendSignal(to, signal),
      onData: (from, data) => this.#pass(from, data),
    });
  }

  #whenLoaded(loaded: Promise<CallData>, then: (data: CallData) => unknown): void {
    void loaded.then(then, () => undefined);
  }

  #pass(from: ParticipantId, data: Data): void {
    for (const listener of this.#listeners)
      try {
        listener(from, data);
      } catch (error) {
        // It is one of the application, and keeps the data from no other listener.
        queueMicrotask(() => {
          throw error;
        });
      }
  }
}
