import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Bitmap } from '../../src/pages/bitmap.ts';
import { makeManifest, type Manifest } from '../../src/pages/manifest.ts';
import type { FakeChannel } from './fakes/connections.ts';
import { chunkMessage, rogue, speak, type Conduct } from './fakes/rogue.ts';
import { limits, Site } from './fakes/site.ts';
import { comes, has, make, noise, view } from './fakes/steps.ts';

const bytes = noise(160_000);
const { chunkBytes } = limits;
const manifest: Manifest = await makeManifest(crypto.subtle, { type: 'text/plain' }, bytes, chunkBytes);
const { page } = manifest;
const all = ((): string => {
  const bitmap = new Bitmap(manifest.fields.chunks.length);
  for (let chunk = 0; chunk < bitmap.of; chunk += 1) bitmap.add(chunk);
  return bitmap.toText();
})();
const right = (chunk: number): Uint8Array<ArrayBuffer> =>
  bytes.slice(chunk * chunkBytes, (chunk + 1) * chunkBytes);
/** Announces, like any holder, that it has the whole page. */
const claims = (channel: FakeChannel): void => {
  speak(channel, { type: 'handshake', page, manifest: manifest.text });
  speak(channel, { type: 'bitfield', chunks: all });
};

/** A reader that finds only visitors with this conduct at first, then also an honest holder. */
async function among(...conducts: Conduct[]): Promise<{ site: Site; reader: ReturnType<Site['open']> }> {
  const site = new Site();
  for (const [index, conduct] of conducts.entries()) {
    const one = await rogue(site, `rogue ${index}`, conduct);
    one.send({ type: 'announce', page, whole: true, bytes: bytes.length });
  }
  await site.clock.advance(200);
  const reader = site.open('reader');
  reader.read(page, null);
  await site.clock.until(() => site.connections.some(({ tab }) => tab === 'reader'), 2000);
  await site.clock.advance(300);
  await make(site, site.open('honest'), bytes);
  return { site, reader };
}

describe('a visitor that sends wrong content is left, and the page still arrives', () => {
  test('[PAGE-3] a holder that sends wrong chunks', async () => {
    let sent = 0;
    const { site, reader } = await among({
      onOpen: claims,
      onMessage: (message, channel) => {
        if (message.type !== 'request') return;
        sent += 1;
        if (channel.readyState === 'open')
          channel.send(chunkMessage(message.chunk, noise(right(message.chunk).length, 9)));
      },
    });
    assert.notEqual(await comes(site, reader, page), null);
    assert.ok(has(reader, page, bytes));
    assert.equal(view(reader, page).dropped, 1);
    // It is not asked again: at most the requests that were in flight.
    assert.ok(sent >= 1 && sent <= 8, `it was asked ${sent} times`);
  });

  test('[PAGE-3] one of eight chunks is wrong', async () => {
    const { site, reader } = await among({
      onOpen: claims,
      onMessage: (message, channel) => {
        if (message.type !== 'request' || channel.readyState !== 'open') return;
        const good = right(message.chunk);
        if (message.chunk === 3) good[0] = (good[0] ?? 0) ^ 1;
        channel.send(chunkMessage(message.chunk, good));
      },
    });
    assert.notEqual(await comes(site, reader, page), null);
    assert.ok(has(reader, page, bytes));
    assert.equal(view(reader, page).dropped, 1);
  });

  for (const [name, size] of [
    ['too short', 1],
    ['too long', chunkBytes + 1],
  ] as const) {
    test(`[PAGE-3] a chunk that is ${name}`, async () => {
      const { site, reader } = await among({
        onOpen: claims,
        onMessage: (message, channel) => {
          if (message.type === 'request') channel.send(chunkMessage(message.chunk, new Uint8Array(size)));
        },
      });
      assert.notEqual(await comes(site, reader, page), null);
      assert.equal(view(reader, page).dropped, 1);
    });
  }

  test('[PAGE-2] a manifest that is not of this address', async () => {
    const { site, reader } = await among({
      onOpen: (channel) => {
        speak(channel, {
          type: 'handshake',
          page,
          manifest: manifest.text.replace('text/plain', 'text/html'),
        });
        speak(channel, { type: 'bitfield', chunks: all });
      },
    });
    assert.notEqual(await comes(site, reader, page), null);
    assert.deepEqual([reader.content(page)?.type, view(reader, page).dropped], ['text/plain', 1]);
  });

  test('[PAGE-16] a holder that claims everything and sends nothing', async () => {
    const { site, reader } = await among({ onOpen: claims });
    assert.notEqual(await comes(site, reader, page), null);
    await site.clock.advance(6000);
    assert.ok(has(reader, page, bytes));
  });

  test('[PAGE-16] the only holder is left after three requests in a row without an answer for 5 s', async () => {
    const site = new Site();
    const one = await rogue(site, 'rogue', { onOpen: claims });
    one.send({ type: 'announce', page, whole: true, bytes: bytes.length });
    const reader = site.open('reader');
    reader.read(page, null);
    const took = await site.clock.until(() => view(reader, page).dropped === 1, 20_000);
    assert.ok(took !== null && took >= 15_000 && took < 18_000, `it took ${took} ms`);
    assert.equal(view(reader, page).peers.length, 0);
  });

  test('[PAGE-16] a holder that answers `reject` repeatedly is left', async () => {
    const site = new Site();
    const one = await rogue(site, 'rogue', {
      onOpen: claims,
      onMessage: (message, channel) => {
        if (message.type === 'request' && channel.readyState === 'open')
          speak(channel, { type: 'reject', chunk: message.chunk });
      },
    });
    one.send({ type: 'announce', page, whole: true, bytes: bytes.length });
    const reader = site.open('reader');
    reader.read(page, null);
    assert.notEqual(await site.clock.until(() => view(reader, page).dropped === 1, 3000), null);
  });

  test('five holders that claim, stall and send wrong content, and one honest holder', async () => {
    const stalls: Conduct = { onOpen: claims };
    const wrong: Conduct = {
      onOpen: claims,
      onMessage: (message, channel) => {
        if (message.type === 'request' && channel.readyState === 'open') {
          channel.send(chunkMessage(message.chunk, new Uint8Array(chunkBytes)));
        }
      },
    };
    const silent: Conduct = { onOffer: () => false };
    const { site, reader } = await among(stalls, wrong, silent, stalls, wrong);
    assert.notEqual(await comes(site, reader, page, 40_000), null);
    assert.ok(has(reader, page, bytes));
  });

  test('[PAGE-2] a page over the limit is refused before a chunk is requested', async () => {
    const large = noise(limits.pageBytes + 1);
    const other = await makeManifest(crypto.subtle, { type: 'text/plain' }, large, chunkBytes);
    const site = new Site();
    const asked: string[] = [];
    const one = await rogue(site, 'rogue', {
      onOpen: (channel) => speak(channel, { type: 'handshake', page: other.page, manifest: other.text }),
      onMessage: ({ type }) => asked.push(type),
    });
    one.send({ type: 'announce', page: other.page, whole: true, bytes: 1 });
    const reader = site.open('reader');
    reader.read(other.page, null);
    await site.clock.until(() => view(reader, other.page).state === 'refused', 3000);
    assert.equal(view(reader, other.page).refusal?.code, 'PAGE_TOO_LARGE');
    assert.ok(!asked.includes('get'));
  });

  test('[PAGE-2] content that matches its address but is no page is refused', async () => {
    const site = new Site();
    const address = async (text: string): Promise<string> => {
      const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      return Buffer.from(hash).toString('hex');
    };
    const { fields } = manifest;
    const texts = [
      'no json',
      '{}',
      JSON.stringify({ ...fields, bytes: fields.bytes + chunkBytes }),
      JSON.stringify({ ...fields, chunkBytes: 1 << 24, chunks: [fields.sha256] }),
      JSON.stringify({ ...fields, type: 'text/html; charset=utf-7' }),
    ];
    for (const [index, text] of texts.entries()) {
      const bad = await address(text);
      const one = await rogue(site, `rogue ${index}`, {
        onOpen: (channel) => speak(channel, { type: 'handshake', page: bad, manifest: text }),
      });
      one.send({ type: 'announce', page: bad, whole: true, bytes: 1 });
      const reader = site.open(`reader ${index}`);
      reader.read(bad, null);
      await site.clock.until(() => view(reader, bad).state === 'refused', 3000);
      assert.equal(view(reader, bad).refusal?.code, 'PAGE_INVALID', text.slice(0, 40));
      reader.close();
    }
  });

  test('[PAGE-3] chunks that match a manifest whose hash of the whole does not', async () => {
    const text = manifest.text.replace(manifest.fields.sha256, manifest.fields.chunks[0] ?? '');
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    const bad = Buffer.from(hash).toString('hex');
    const site = new Site();
    const one = await rogue(site, 'rogue', {
      onOpen: (channel) => {
        speak(channel, { type: 'handshake', page: bad, manifest: text });
        speak(channel, { type: 'bitfield', chunks: all });
      },
      onMessage: (message, channel) => {
        if (message.type === 'request' && channel.readyState === 'open')
          channel.send(chunkMessage(message.chunk, right(message.chunk)));
      },
    });
    one.send({ type: 'announce', page: bad, whole: true, bytes: bytes.length });
    const reader = site.open('reader');
    reader.read(bad, null);
    await site.clock.until(() => view(reader, bad).state === 'refused', 3000);
    assert.equal(view(reader, bad).refusal?.code, 'PAGE_INVALID');
    assert.equal(reader.content(bad), null);
  });
});

describe('a visitor that floods a holder is left', () => {
  const floods: readonly (readonly [string, (channel: FakeChannel) => void])[] = [
    ['no json', (channel) => channel.send('{'.repeat(20))],
    ['a text of a megabyte', (channel) => channel.send('x'.repeat(1 << 20))],
    ['bytes that were not requested', (channel) => channel.send(chunkMessage(0, right(0)))],
    ['bytes without a number', (channel) => channel.send(new Uint8Array(3))],
    ['another page', (channel) => speak(channel, { type: 'handshake', page: 'a'.repeat(64) })],
    [
      'types of a newer version without end',
      (channel) => {
        for (let count = 0; count < 400; count += 1) channel.send('{"type":"news"}');
      },
    ],
    [
      'the same chunk without end',
      (channel) => {
        for (let count = 0; count < 400; count += 1) speak(channel, { type: 'request', chunk: 0 });
      },
    ],
    [
      'chunks that there are not',
      (channel) => {
        for (let count = 0; count < 400; count += 1) speak(channel, { type: 'request', chunk: 5000 + count });
      },
    ],
    [
      'the same `bitfield` without end',
      (channel) => {
        for (let count = 0; count < 400; count += 1) speak(channel, { type: 'bitfield', chunks: 'AA' });
      },
    ],
  ];
  for (const [name, flood] of floods) {
    test(`[PAGE-16] ${name}`, async () => {
      const site = new Site();
      const holder = site.open('holder');
      await make(site, holder, bytes);
      const one = await rogue(site, 'rogue', {
        onOpen: (channel) => {
          speak(channel, { type: 'handshake', page });
          flood(channel);
        },
      });
      const [first] = site.visitors.keys();
      one.offer(first ?? '', page, 'a-link-of-mine');
      assert.notEqual(await site.clock.until(() => view(holder, page).dropped === 1, 5000), null);
      assert.equal(view(holder, page).peers.length, 0);
      // The holder does not accept it again, and accepts others.
      one.offer(first ?? '', page, 'another-link-of-mine');
      await site.clock.until(() => one.received.some(({ type }) => type === 'reject'), 1000);
      const reader = site.open('reader');
      reader.read(page, null);
      assert.notEqual(await comes(site, reader, page), null);
    });
  }

  test('[PAGE-14] offers of unknown pages, however many, do not delay messages to others', async () => {
    const site = new Site();
    await make(site, site.open('honest'), bytes);
    const reader = site.open('reader');
    await site.clock.until(() => reader.snapshot.connection === 'open', 1000);
    const victim = [...site.visitors.keys()].at(-1) ?? '';
    const stranger = await rogue(site, 'stranger');
    for (let nth = 0; nth < 600; nth += 1)
      stranger.sendTo(victim, { type: 'offer', link: `a-link-of-${nth}`, page: 'f'.repeat(64), sdp: 'x' });
    await site.clock.advance(100);
    reader.read(page, null);
    assert.notEqual(await comes(site, reader, page, 5000), null);
    assert.ok(stranger.received.length < 100, `${stranger.received.length} answers`);
  });

  test('[PAGE-14] many offers of one visitor do not create a connection each', async () => {
    const site = new Site();
    const holder = site.open('holder');
    await make(site, holder, bytes);
    const [victim = ''] = site.visitors.keys();
    const stranger = await rogue(site, 'stranger');
    for (let nth = 0; nth < 50; nth += 1) stranger.offer(victim, page, `a-link-of-${nth}`);
    await site.clock.advance(400);
    assert.ok(site.connections.filter(({ tab }) => tab === 'holder').length <= 1);
  });

  test('[PAGE-16] the data that waits for a visitor that does not read is bounded', async () => {
    const site = new Site();
    const large = noise(4 << 20);
    const holder = site.open('holder');
    const made = await make(site, holder, large);
    site.uplink('holder').rate = 0.001;
    const one = await rogue(site, 'rogue', {
      onOpen: (channel) => {
        speak(channel, { type: 'handshake', page: made.page });
        for (let chunk = 0; chunk < 200; chunk += 1) speak(channel, { type: 'request', chunk });
      },
    });
    const [first] = site.visitors.keys();
    one.offer(first ?? '', made.page, 'a-link-of-mine');
    await site.clock.until(() => one.channels.length > 0, 2000);
    await site.clock.advance(1000);
    const waits = Math.max(...site.connections.map(({ channel }) => channel?.mostBuffered ?? 0));
    assert.ok(waits > 0 && waits <= (1 << 20) + 2 * chunkBytes, `${waits} bytes wait`);
  });
});
