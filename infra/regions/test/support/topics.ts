/** Clients of stream topics, and metrics of the relays that carry them. */
import { once } from 'node:events';
import type { Regions } from '../../src/regions.ts';
import { relayNumbers } from '../../src/relays.ts';
import type { RegionName } from '../../src/site.ts';

const ASKED_MS = 2000;

async function open(url: string, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/${path}`);
  await once(socket, 'open');
  return socket;
}

/** A reader of a topic at one relay. */
export class Subscriber {
  readonly received: string[] = [];
  readonly url: string;
  readonly #socket: WebSocket;

  private constructor(url: string, socket: WebSocket) {
    this.url = url;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.received.push(String(data)));
  }

  /** `url`: of the relay. Resolves when it reads. */
  static async open(url: string, topic: string): Promise<Subscriber> {
    return new Subscriber(url, await open(url, `out/${topic}`));
  }

  close(): void {
    this.#socket.close();
  }
}

/** A publisher on a topic at one relay. */
export class TopicPublisher {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** `url`: of the relay. */
  static async open(url: string, topic: string): Promise<TopicPublisher> {
    return new TopicPublisher(await open(url, `in/${topic}`));
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.close();
  }
}

/** The sum of `parley_relay_{name}` over the relays of a region. */
export async function streamMetric(regions: Regions, region: RegionName, name: string): Promise<number> {
  const values = await Promise.all(
    relayNumbers.map(async (relay) => {
      const url = `${regions.relay(region, relay)}/metrics`;
      const text = await (await fetch(url, { signal: AbortSignal.timeout(ASKED_MS) })).text();
      return Number(new RegExp(`^parley_relay_${name} (.+)$`, 'm').exec(text)?.[1]);
    }),
  );
  return values.reduce((sum, value) => sum + value, 0);
}
