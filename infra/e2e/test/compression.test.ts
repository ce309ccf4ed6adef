/** Compression on the wire: none by WebSocket, and session descriptions by the clients themselves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { newProfile } from '../support/browsers.ts';
import { withSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

const WITHIN_MS = 10_000;
/** A session description as JSON text takes several times its deflated size. */
const DEFLATED_SHARE = 0.6;

describe('signals on the wire', { timeout: 120_000 }, () => {
  const site = withSite();

  for (const path of ['/v1/pages/socket', '/streams/compression', '/v1/rooms/%room/socket'])
    it(`${path}: permessage-deflate is offered and not accepted, and frames have no reserved bits`, async () => {
      const { head, frames } = await upgrade(site.web, path.replace('%room', newRoom()), path);
      assert.match(head, /^HTTP\/1\.1 101 /);
      assert.doesNotMatch(head, /^sec-websocket-extensions:/im);
      const [first = 0, length = 0] = frames;
      assert.equal(first & 0x70, 0, 'RSV1 to RSV3 of the first frame');
      assert.ok(length > 0 && frames.length >= 2 + (length & 0x7f));
      if (path !== '/streams/compression') JSON.parse(payloadOf(frames));
    });

  it('a session description is sent deflated, in fewer bytes, and the other browser inflates it', async () => {
    const room = newRoom();
    const page = await (await newProfile(site.browser, site.web)).newPage();
    const sent: Buffer[] = [];
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => typeof payload !== 'string' && sent.push(payload)),
    );
    const ada = new Visitor('Ada', page);
    await ada.enter(`${site.web}/r/${room}`);
    const ben = await Visitor.join(site.browser, { name: 'Ben', web: site.web, room });
    await Promise.all([ada.receivesMedia(1), ben.receivesMedia(1)]);
    const descriptions = sent.map((message) => {
      const payload = message.subarray(message.indexOf('\n') + 1);
      const text = inflateRawSync(payload).toString();
      return { bytes: payload.length, text, type: (JSON.parse(text) as { type: string }).type };
    });
    assert.ok(
      descriptions.some(({ type }) => type === 'description'),
      `${sent.length} binary messages`,
    );
    for (const { bytes, text } of descriptions)
      assert.ok(bytes < DEFLATED_SHARE * text.length, `${bytes} bytes of ${text.length}`);
    await Promise.all([ada.leave(), ben.leave()]);
  });
});

/** Upgrades as a browser does, which offers permessage-deflate, and returns the answer and the first bytes after it. */
async function upgrade(base: string, path: string, kind: string): Promise<{ head: string; frames: Buffer }> {
  const { hostname, port, host } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
      'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n',
  );
  let received = Buffer.alloc(0);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const headEnd = (): number => received.indexOf('\r\n\r\n');
  let isSent = false;
  while (headEnd() === -1 || received.length < headEnd() + 6) {
    const [chunk] = (await once(socket, 'data', { signal })) as [Buffer];
    received = Buffer.concat([received, chunk]);
    if (headEnd() === -1 || isSent) continue;
    isSent = true;
    // A room's socket answers an invalid message with an error, and a topic's a ping; a page's socket sends `welcome`.
    if (kind.startsWith('/streams/')) socket.write(maskedFrame(0x89, 'ping'));
    if (kind.startsWith('/v1/rooms/')) socket.write(maskedFrame(0x81, 'not a message'));
  }
  socket.destroy();
  return { head: received.subarray(0, headEnd()).toString(), frames: received.subarray(headEnd() + 4) };
}

function maskedFrame(first: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}

/** The text of the first frame of a server, which is shorter than 64 kB. */
function payloadOf(frames: Buffer): string {
  const short = (frames[1] ?? 0) & 0x7f;
  const [at, length] = short === 126 ? [4, frames.readUInt16BE(2)] : [2, short];
  return frames.subarray(at, at + length).toString();
}
