/**
 * A simulated swarm: the uplink of each visitor is a queue of chunks, connections open after a delay, `have` takes a round trip. Only the
 * scheduler is real.
 */
import { Bitmap } from '../../src/pages/bitmap.ts';
import { Swarm } from '../../src/pages/swarm.ts';
import { seeded } from '../fakes/random.ts';

export interface Outcome {
  /** The time at which the last reader had the page. */
  readonly ms: number;
  /** The number of copies of the page that the first holder sent. */
  readonly copies: number;
  /** How often an honest visitor was left because it seemed not to answer requests. */
  readonly left: number;
}

interface Node {
  readonly name: string;
  readonly here: Bitmap;
  readonly swarm: Swarm;
  readonly links: Set<Node>;
  /** The requested chunks, in this order. */
  queue: { readonly reader: Node; readonly chunk: number }[];
  accepted: number;
  sent: number;
}

const LATENCY_MS = 20;
const CONNECT_MS = 200;
const ASKED = 6;
const SERVED = 8;

/** `uplink`: bytes per ms. */
export function simulate(options: {
  readers: number;
  chunks: number;
  chunkBytes: number;
  uplink: number;
  seed: number;
}): Outcome {
  const random = seeded(options.seed);
  const events: { at: number; order: number; run: () => void }[] = [];
  let now = 0;
  let order = 0;
  let left = 0;
  const after = (ms: number, run: () => void): void => {
    order += 1;
    events.push({ at: now + ms, order, run });
  };
  const node = (name: string): Node => {
    const here = new Bitmap(options.chunks);
    return {
      name,
      here,
      swarm: new Swarm(here, random),
      links: new Set(),
      queue: [],
      accepted: 0,
      sent: 0,
    };
  };
  const first = node('first');
  for (let chunk = 0; chunk < options.chunks; chunk += 1) first.here.add(chunk);
  const readers = Array.from({ length: options.readers }, (_, index) => node(`reader ${index}`));

  const learn = (at: Node, from: Node): void => {
    at.swarm.join(from.name, now);
    for (let chunk = 0; chunk < options.chunks; chunk += 1)
      if (from.here.has(chunk)) at.swarm.got(from.name, chunk);
    ask(at);
  };
  const ask = (reader: Node): void => {
    for (const { peer, chunk } of reader.swarm.requests(now)) {
      const sender = [...reader.links].find(({ name }) => name === peer);
      if (sender === undefined) throw new Error('requested from an unknown visitor');
      after(LATENCY_MS, () => {
        sender.queue.push({ reader, chunk });
        if (sender.queue.length === 1) give(sender);
      });
    }
  };
  const give = (sender: Node): void => {
    const [next] = sender.queue;
    if (next === undefined) return;
    after(options.chunkBytes / options.uplink, () => {
      sender.queue.shift();
      sender.sent += 1;
      after(LATENCY_MS, () => take(next.reader, sender, next.chunk));
      give(sender);
    });
  };
  const take = (reader: Node, sender: Node, chunk: number): void => {
    if (reader.swarm.arrived(sender.name, chunk, now) === 'wanted') {
      const begins = reader.here.count === 0;
      reader.swarm.checked(chunk);
      reader.here.add(chunk);
      for (const other of reader.links) {
        after(LATENCY_MS, () => {
          other.swarm.got(reader.name, chunk);
          ask(other);
        });
      }
      if (begins) for (const other of readers) after(300, () => seek(other));
    }
    ask(reader);
  };
  const seek = (reader: Node): void => {
    const begun = [...reader.links].length;
    const free = [first, ...readers].filter(
      (one) => one !== reader && one.here.count > 0 && !reader.links.has(one) && one.accepted < SERVED,
    );
    for (let count = begun; count < ASKED && free.length > 0; count += 1) {
      const [other] = free.splice(Math.floor(random.fraction() * free.length), 1);
      if (other === undefined) return;
      other.accepted += 1;
      reader.links.add(other);
      other.links.add(reader);
      after(CONNECT_MS, () => {
        learn(reader, other);
        learn(other, reader);
      });
    }
  };
  for (const reader of readers) after(random.fraction() * 100, () => seek(reader));
  const tick = (): void => {
    for (const reader of readers) {
      for (const id of reader.swarm.expireRequests(now)) {
        left += 1;
        reader.swarm.leave(id);
        reader.swarm.join(id, now);
        const sender = [...reader.links].find(({ name }) => name === id);
        if (sender === undefined) continue;
        // The connection is a new one: requests on the previous connection are forgotten.
        sender.queue = sender.queue.filter((one, index) => index === 0 || one.reader !== reader);
        learn(reader, sender);
      }
      ask(reader);
    }
    after(500, tick);
  };
  tick();
  while (!readers.every(({ here }) => here.full)) {
    events.sort((a, b) => a.at - b.at || a.order - b.order);
    const next = events.shift();
    if (next === undefined || now > 7_200_000) throw new Error('it never ended');
    now = next.at;
    next.run();
  }
  return { ms: Math.round(now), copies: first.sent / options.chunks, left };
}
