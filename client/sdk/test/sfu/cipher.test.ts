import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFrame, encodeFrame } from '../../src/sfu/frames.ts';
import { RoomCipher } from '../../src/sfu/cipher.ts';
import { newSecret, readSecret } from '../../src/sfu/secret.ts';

const { subtle } = globalThis.crypto;
const SECRET = newSecret(Uint8Array.from({ length: 16 }, (_, at) => at));
const OTHER = newSecret(Uint8Array.from({ length: 16 }, () => 7));
const ROOM = 'k7mq-2x9d-htw4-e0vn';
const TRACK = 'p1/0001/camera/low';
const FRAME = encodeFrame({ timestamp: 1_234_567_890, payload: Uint8Array.of(1, 2, 3) });

const encrypted = async (secret = SECRET, room = ROOM, track = TRACK) =>
  (await RoomCipher.of(subtle, secret, room)).track(track);

describe('an end-to-end key', () => {
  it('[MEDIA-16] decrypts what it encrypted, and reveals only the time to the relay', async () => {
    const track = await encrypted();
    const closed = await track.encrypt(9, 2, FRAME);
    assert.equal(decodeFrame(closed)?.timestamp, 1_234_567_890);
    assert.ok(!Buffer.from(closed).includes(Buffer.of(1, 2, 3)));
    assert.deepEqual(await (await encrypted()).decrypt(9, 2, closed), FRAME);
  });

  it('[MEDIA-16] decrypts nothing that was changed or moved, or belongs to another key, room or track', async () => {
    const track = await encrypted();
    const closed = await track.encrypt(9, 2, FRAME);
    const changed = closed.slice();
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const retimed = closed.slice();
    retimed[7] = (retimed[7] ?? 0) ^ 1;
    assert.equal(await track.decrypt(9, 2, changed), undefined);
    assert.equal(await track.decrypt(9, 2, retimed), undefined);
    assert.equal(await track.decrypt(9, 3, closed), undefined);
    assert.equal(await track.decrypt(8, 2, closed), undefined);
    assert.equal(await (await encrypted(OTHER)).decrypt(9, 2, closed), undefined);
    assert.equal(await (await encrypted(SECRET, 'another-room')).decrypt(9, 2, closed), undefined);
    assert.equal(
      await (await encrypted(SECRET, ROOM, 'p2/0001/camera/low')).decrypt(9, 2, closed),
      undefined,
    );
    assert.equal(await track.decrypt(9, 2, FRAME), undefined, 'what was never encrypted');
    assert.equal(await track.decrypt(9, 2, new Uint8Array()), undefined);
  });

  it('encrypts a mark of silence like every other frame', async () => {
    const track = await encrypted();
    const mark = encodeFrame({ timestamp: 5, payload: new Uint8Array() });
    const opened = await track.decrypt(0, 0, await track.encrypt(0, 0, mark));
    assert.deepEqual(opened, mark);
  });

  it('has an identifier that differs in every room and does not reveal the key', async () => {
    const of = async (secret: string, room = ROOM) => (await RoomCipher.of(subtle, secret, room)).id;
    assert.match(await of(SECRET), /^[0-9a-f]{16}$/);
    assert.equal(await of(SECRET), await of(SECRET));
    assert.notEqual(await of(SECRET), await of(OTHER));
    assert.notEqual(await of(SECRET), await of(SECRET, 'another-room'));
  });

  it('is 16 bytes in base64url and nothing else', () => {
    assert.equal(SECRET.length, 22);
    assert.deepEqual(
      readSecret(SECRET),
      Uint8Array.from({ length: 16 }, (_, at) => at),
    );
    for (const wrong of ['', SECRET.slice(1), `${SECRET}A`, `${SECRET.slice(1)}!`, ` ${SECRET}`])
      assert.equal(readSecret(wrong), undefined, wrong);
  });
});
