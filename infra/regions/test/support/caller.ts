/** A participant with the signaling of the SDK, as browsers run it. It has no media. */
import { browserPorts } from '@parley/sdk/browser-ports';
import type { CallConnection } from '@parley/sdk/call';
import { Connection } from '@parley/sdk/signaling/connection';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import type { RegionName } from '../../src/site.ts';

const ENTERS_WITHIN_MS = 10_000;
const NO_MEDIA = { audio: false, video: false, screen: false };

export class Caller {
  readonly #connection: Connection;
  readonly #participants: string[] = [];
  readonly #name: string;
  /** Who sent it a message. */
  readonly heard = new Set<string>();
  #state: CallConnection = { status: 'joining' };
  /** When it was last welcomed. */
  #connectedAt = 0;

  private constructor(name: string, api: string, room: string, region: RegionName) {
    this.#name = name;
    const options = { api, room, name, region, microphone: null, camera: null };
    // Node.js does not know whether it is online.
    const ports = { ...browserPorts(), network: { online: () => true, subscribe: () => () => undefined } };
    this.#connection = new Connection(options, ports, {
      onState: (state) => {
        this.#state = state;
        if (state.status === 'connected') this.#connectedAt = performance.now();
      },
      onWelcome: ({ participant }) => void this.#participants.push(participant),
      onMessage: () => undefined,
      onDirected: (from) => void this.heard.add(from),
      onEnter: () => undefined,
      introduction: () => ({ name, media: NO_MEDIA, chat: [] }),
    });
    this.#connection.start();
  }

  /** Resolves when it is in the room, in this region. */
  static async enter(name: string, api: string, room: string, region: RegionName): Promise<Caller> {
    const caller = new Caller(name, api, room, region);
    await eventually(`${name} is in ${region}`, () => caller.region === region, ENTERS_WITHIN_MS);
    return caller;
  }

  /** Whose pod it is connected to; `null` without a connection. */
  get region(): string | null {
    return this.#state.status === 'connected' ? (this.#state.pod.split('_')[0] ?? null) : null;
  }

  /** Of all its welcomes: one, as long as it is the same participant. */
  get participants(): ReadonlySet<string> {
    return new Set(this.#participants);
  }

  /** How long after `since` it was connected to a pod of another region than this. */
  async movedFrom(region: RegionName, since: number, withinMs: number): Promise<number> {
    const hasMoved = (): boolean => this.region !== null && this.region !== region;
    await eventually(`${this.#name} has left ${region}`, hasMoved, withinMs);
    return Math.round(this.#connectedAt - since);
  }

  leave(): void {
    this.#connection.leave();
  }
}
