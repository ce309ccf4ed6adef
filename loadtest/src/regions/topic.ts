/** A topic of streams over regions: how often its messages cross, and how late they are. Clients reach the relays of their region without delay. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@parley/e2e/support/until.ts';
import type { Regions } from '@parley/regions/src/regions.ts';
import { relayNumbers } from '@parley/regions/src/relays.ts';
import { regionNames, type RegionName } from '@parley/regions/src/site.ts';
import { streamMetric } from '@parley/regions/test/support/topics.ts';
import { percentileOf } from '../statistics.ts';

export interface Topic {
  readonly messages: number;
  readonly bytes: number;
  /** To each region. */
  readonly readers: readonly TopicReaders[];
}

export interface TopicReaders {
  readonly region: RegionName;
  readonly readers: number;
  /** Deliveries of a message to a reader that had it. */
  readonly extra: number;
  readonly p50: number;
  readonly p95: number;
  /** Bytes that came from other regions per published byte; `undefined` in the region of the publisher. */
  readonly copies: number | undefined;
}

export interface TopicLoad {
  readonly seconds: number;
  readonly perSecond: number;
  readonly bytes: number;
  /** At each relay. */
  readonly readers: number;
}

const LINKED_WITHIN_MS = 20_000;
const ARRIVED_WITHIN_MS = 10_000;
const FROM: RegionName = 'eu';
/** A message begins with the time of its making, a Float64; here is its number, an Int32: negative before the measurement. */
const NUMBER_AT = 8;

interface Reader {
  readonly region: RegionName;
  readonly socket: WebSocket;
  /** Of each numbered message, ms. */
  readonly delays: number[];
  /** Those that have arrived. */
  readonly numbers: Set<number>;
  isReached: boolean;
}

/** Publishes at one relay, and reads at all others. */
export async function measureTopic(regions: Regions, load: TopicLoad): Promise<Topic> {
  await linked(regions);
  const topic = `bench-${process.pid}-${Date.now()}`;
  const readers = await Promise.all(placesOf(load).map((place) => openReader(regions, topic, place)));
  const publisher = await open(`${regions.relay(FROM, 1)}/in/${topic}`);
  try {
    const send = (number: number): void => publisher.send(message(number, load.bytes));
    const isReached = (): boolean => {
      send(-1);
      return readers.every(({ isReached }) => isReached);
    };
    await until(isReached, { withinMs: LINKED_WITHIN_MS, what: () => 'all readers to be reached' });
    const before = await arrivedAt(regions);
    const messages = await publish(load, send);
    const isComplete = ({ numbers }: Reader): boolean => numbers.size === messages;
    await until(() => readers.every(isComplete), {
      withinMs: ARRIVED_WITHIN_MS,
      what: () => `${messages} messages to arrive at all readers`,
    });
    const after = await arrivedAt(regions);
    return {
      messages,
      bytes: load.bytes,
      readers: regionNames.map((region) => {
        const mine = readers.filter((reader) => reader.region === region);
        const delays = mine.flatMap((reader) => reader.delays);
        return {
          region,
          readers: mine.length,
          extra: mine.reduce((sum, reader) => sum + reader.delays.length - reader.numbers.size, 0),
          p50: percentileOf(delays, 0.5),
          p95: percentileOf(delays, 0.95),
          copies: region === FROM ? undefined : (after[region] - before[region]) / (messages * load.bytes),
        };
      }),
    };
  } finally {
    for (const socket of [publisher, ...readers.map(({ socket }) => socket)]) socket.close();
  }
}

interface Place {
  readonly region: RegionName;
  readonly relay: 1 | 2;
}

/** The relay of the publisher has no readers: all messages take at least one link. */
const placesOf = ({ readers }: TopicLoad): Place[] =>
  regionNames
    .flatMap((region) => relayNumbers.map((relay) => ({ region, relay })))
    .filter(({ region, relay }) => region !== FROM || relay !== 1)
    .flatMap((place) => Array.from({ length: readers }, () => place));

async function publish({ seconds, perSecond }: TopicLoad, send: (number: number) => void): Promise<number> {
  const messages = seconds * perSecond;
  const began = performance.now();
  for (let number = 0; number < messages; number += 1) {
    const due = began + (1000 * number) / perSecond;
    if (due > performance.now()) await pause(due - performance.now());
    send(number);
  }
  return messages;
}

function message(number: number, bytes: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(bytes));
  view.setFloat64(0, performance.now());
  view.setInt32(NUMBER_AT, number);
  return view.buffer;
}

async function openReader(regions: Regions, topic: string, { region, relay }: Place): Promise<Reader> {
  const socket = await open(`${regions.relay(region, relay)}/out/${topic}`);
  const reader: Reader = { region, socket, delays: [], numbers: new Set(), isReached: false };
  socket.addEventListener('message', ({ data }) => {
    const now = performance.now();
    const view = new DataView(data as ArrayBuffer);
    const number = view.getInt32(NUMBER_AT);
    if (number < 0) {
      reader.isReached = true;
      return;
    }
    reader.numbers.add(number);
    reader.delays.push(now - view.getFloat64(0));
  });
  return reader;
}

async function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  socket.binaryType = 'arraybuffer';
  await once(socket, 'open');
  return socket;
}

/** Each relay to each of the other regions. */
async function linked(regions: Regions): Promise<void> {
  const links = relayNumbers.length ** 2 * (regionNames.length - 1);
  for (const region of regionNames)
    await until(async () => (await streamMetric(regions, region, 'ocean_links_receiving')) === links, {
      withinMs: LINKED_WITHIN_MS,
      what: () => `the links of ${region} to other regions`,
    });
}

async function arrivedAt(regions: Regions): Promise<Record<RegionName, number>> {
  const all = await Promise.all(
    regionNames.map(
      async (region) => [region, await streamMetric(regions, region, 'ocean_received_bytes_total')] as const,
    ),
  );
  return Object.fromEntries(all) as Record<RegionName, number>;
}
