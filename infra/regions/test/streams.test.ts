/** Topics of streams over regions: how often they cross, and what a cut does to them. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../../services/signaling/test/support/deadline.ts';
import { relayNumbers } from '../src/relays.ts';
import { regionNames, type RegionName } from '../src/site.ts';
import { lab } from './support/lab.ts';
import { streamMetric, Subscriber, TopicPublisher } from './support/topics.ts';

const MESSAGES = 100;
const WITHIN_MS = 20_000;
/** Relays of one region that link to those of each other one. */
const LINKS = relayNumbers.length ** 2;

const regions = lab();

const linksOf = (region: RegionName): Promise<number> =>
  streamMetric(regions(), region, 'ocean_links_receiving');

async function linked(): Promise<void> {
  for (const region of regionNames)
    await eventually(
      `the relays of ${region} are linked to those of other regions`,
      async () => (await linksOf(region)) === LINKS * (regionNames.length - 1),
      WITHIN_MS,
    );
}

/** A reader at each relay. */
async function readersOf(t: TestContext, topic: string): Promise<Subscriber[]> {
  const places = regionNames.flatMap((region) => relayNumbers.map((relay) => ({ region, relay })));
  const readers = await Promise.all(
    places.map(({ region, relay }) => Subscriber.open(regions().relay(region, relay), topic)),
  );
  t.after(() => {
    for (const reader of readers) reader.close();
  });
  return readers;
}

/** Resolves when each reader has received a message that was published after this began, and all that were published. */
async function reached(publisher: TopicPublisher, readers: readonly Subscriber[]): Promise<void> {
  for (const reader of readers) reader.received.length = 0;
  await eventually(
    'all readers are reached',
    () => {
      publisher.send('reached?');
      return readers.every((reader) => reader.received.includes('reached?'));
    },
    WITHIN_MS,
  );
  publisher.send('reached');
  await eventually(
    'all have received what was published',
    () => readers.every((reader) => reader.received.includes('reached')),
    WITHIN_MS,
  );
  for (const reader of readers) reader.received.length = 0;
}

test('[STR-139] [STR-140] [STR-141] a topic crosses from a region to each other one once, and arrives once', async (t) => {
  await linked();
  const readers = await readersOf(t, 'lab');
  const publisher = await TopicPublisher.open(regions().relay('eu', 1), 'lab');
  t.after(() => publisher.close());
  await reached(publisher, readers);
  const sent = (): Promise<number> => streamMetric(regions(), 'eu', 'ocean_sent_messages_total');
  const before = await sent();
  const expected = Array.from({ length: MESSAGES }, (_, number) => String(number));
  for (const message of expected) publisher.send(message);
  await eventually(
    'all messages arrive',
    () => readers.every((reader) => reader.received.length >= MESSAGES),
    WITHIN_MS,
  );
  for (const reader of readers) assert.deepEqual(reader.received, expected);
  assert.equal((await sent()) - before, MESSAGES * (regionNames.length - 1));
});

test('[STR-97] [STR-139] two regions that were cut off from each other are linked again, and topics cross', async (t) => {
  await linked();
  t.after(() => regions().heal());
  const readers = await readersOf(t, 'cut');
  const publisher = await TopicPublisher.open(regions().relay('eu', 1), 'cut');
  t.after(() => publisher.close());
  await reached(publisher, readers);
  regions().cut('eu', 'us');
  await eventually(
    'links over the cut end',
    async () => (await linksOf('eu')) === LINKS && (await linksOf('us')) === LINKS,
    WITHIN_MS,
  );
  const isApart = ({ url }: Subscriber): boolean =>
    relayNumbers.some((relay) => url === regions().relay('us', relay));
  await reached(
    publisher,
    readers.filter((reader) => !isApart(reader)),
  );
  assert.deepEqual(
    readers.filter(isApart).flatMap((reader) => reader.received),
    [],
  );
  regions().heal();
  await linked();
  await reached(publisher, readers);
});
