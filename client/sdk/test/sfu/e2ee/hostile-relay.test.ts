/** What a relay, a signaling service and one who has left can do together: they see every frame and message, and change what they want. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeFrame } from '../../../src/sfu/frames.ts';
import type { KeySignal } from '../../../src/ports.ts';
import type { FrameOpener } from '../../../src/sfu/e2ee/frame-cipher.ts';
import {
  afterWaiting,
  commonCode,
  keyRoom,
  withKey,
  type KeyRoom,
  type Party,
} from '../../fakes/key-room.ts';

const TRACK = 'camera/low';
type Bytes = Uint8Array<ArrayBuffer>;
const frame = (time: number): Bytes =>
  encodeFrame({ timestamp: time, payload: Uint8Array.of(9, 8, 7, time & 0xff) });

interface Stand {
  readonly room: KeyRoom;
  readonly ada: Party;
  readonly ben: Party;
  /** Frame `index` of that group, as Ada encrypts it. */
  readonly seal: (group: number, index?: number, track?: string) => Promise<Bytes>;
  /** As Ben decrypts what the relay says is there, in the place that it says. */
  readonly open: (bytes: Uint8Array, group: number, index?: number) => Promise<Uint8Array | undefined>;
}

async function stand(): Promise<Stand> {
  const room = keyRoom();
  const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
  room.meet(ada, ben);
  const opener = ben.keys.opener(ada.id, ada.instance, TRACK);
  const made: Stand = {
    room,
    ada,
    ben,
    seal: (group, index = 0, track = TRACK) => ada.keys.sealer(track).encrypt(group, index, frame(group)),
    open: (bytes, group, index = 0) => opener.decrypt(group, index, bytes),
  };
  assert.deepEqual(await made.open(await made.seal(1), 1), frame(1));
  return made;
}

const flipped = (bytes: Uint8Array, at: number): Bytes => {
  const changed = new Uint8Array(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
};

describe('a hostile relay', () => {
  it('[MEDIA-16] cannot change a frame, its time among it', async () => {
    const { seal, open, room } = await stand();
    const closed = await seal(2);
    for (let at = 0; at < closed.length; at += 1) {
      // A key id that is none is waited for.
      assert.equal(await afterWaiting(room, open(flipped(closed, at), 2)), undefined, `byte ${at}`);
    }
    assert.deepEqual(await open(closed, 2), frame(2));
  });

  it('[MEDIA-16] cannot move a frame to another place, track, page or participant', async () => {
    const { room, ada, ben, seal, open } = await stand();
    const closed = await seal(2, 1);
    assert.equal(await open(closed, 2, 0), undefined);
    assert.equal(await open(closed, 3, 1), undefined);
    const cem = await room.enter('cem');
    room.meet(ada, ben, cem);
    const as = (from: Party, track: string, instance = from.instance) =>
      ben.keys.opener(from.id, instance, track).decrypt(2, 1, closed);
    const heard = cem.keys.sealer(TRACK).encrypt(1, 0, frame(1));
    assert.ok(await ben.keys.opener(cem.id, cem.instance, TRACK).decrypt(1, 0, await heard));
    assert.equal(await as(cem, TRACK), undefined, 'as that of another participant');
    assert.equal(await as(ada, 'screen/high'), undefined);
    assert.deepEqual(await as(ada, TRACK), frame(2));
    await refused(room, as(ada, TRACK, '1111111ada'));
  });

  it('[MEDIA-16] cannot play a frame again, not even to a track that begins again or of an earlier page', async () => {
    const { room, ada, ben, seal } = await stand();
    const groups = await Promise.all([2, 3, 4].map((group) => seal(group)));
    const opener = ben.keys.opener(ada.id, ada.instance, TRACK);
    for (const [at, closed] of groups.entries())
      assert.deepEqual(await opener.decrypt(at + 2, 0, closed), frame(at + 2));
    const again = ben.keys.opener(ada.id, ada.instance, TRACK);
    for (const [at, closed] of groups.entries())
      assert.equal(await again.decrypt(at + 2, 0, closed), undefined, `group ${at + 2}`);
    // What the relay made up has no page here, and pushes none out.
    for (let made = 0; made < 9; made += 1) {
      const forged = ben.keys
        .opener(ada.id, `999999999${made}`, TRACK)
        .decrypt(2, 0, groups[0] ?? new Uint8Array());
      await refused(room, forged);
    }
    assert.equal(
      await ben.keys.opener(ada.id, ada.instance, TRACK).decrypt(2, 0, groups[0] ?? new Uint8Array()),
      undefined,
    );

    const kept = await seal(9);
    await room.clock.advance(1000);
    const reloaded = await room.enter('ada', { instance: '1111111ada' });
    room.meet(reloaded, ben);
    await opens(ben.keys.opener(ada.id, reloaded.instance, TRACK), reloaded, 1);
    await refused(room, ben.keys.opener(ada.id, ada.instance, TRACK).decrypt(9, 0, kept));
  });

  it('[MEDIA-16] makes up keys and frames without end, and 300 frames of a track wait for at most four keys', async () => {
    const { room, ada, ben, seal } = await stand();
    const closed = await seal(2);
    const opener = ben.keys.opener(ada.id, ada.instance, TRACK);
    const kidAt = 1;
    let waiting = 0;
    const forge = (kid: number): void => {
      const forged = new Uint8Array(closed);
      forged[kidAt] = (kid << 4) | ((forged[kidAt] ?? 0) & 0b1111);
      waiting += 1;
      void opener.decrypt(2, 0, forged).finally(() => (waiting -= 1));
    };
    for (let count = 0; count < 2000; count += 1) forge(1 + (count % 7));
    await room.until('most are refused', () => waiting <= 300);
    assert.ok(waiting > 0);
    await room.clock.advance(1100);
    await room.until('all are refused', () => waiting === 0);
    const asked = room.sent.filter(({ from, message }) => from === ben.id && message.asks).length;
    assert.ok(asked < 10, `${asked} requests`);
    assert.deepEqual(await opener.decrypt(2, 0, closed), frame(2));
  });
});

describe('a hostile service', () => {
  it('[MEDIA-27] without the link cannot put itself between two: keys that it makes are not taken, and change no code', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    const other = keyRoom();
    const evil = await other.enter('ben', { secret: 'AAAAAAAAAAAAAAAAAAAAAA' });
    evil.keys.follow(new Set([ada.id]), [ada.id]);
    const [forged] = other.sent;
    assert.ok(forged !== undefined);
    room.service = (sent) => [{ ...sent, message: { ...sent.message, ...swapped(forged.message) } }, sent];
    room.meet(ada, ben);
    await opens(ben.keys.opener(ada.id, ada.instance, TRACK), ada, 1);
    await commonCode(room, [ada, ben]);
  });

  it('[MEDIA-27] [MEDIA-28] with the link, as one who left gives it, can: no code shows before that is over, and the codes of the two differ while it is not', async () => {
    const [room, other] = [keyRoom(), keyRoom()];
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    const evil = await other.enter('ben');
    room.service = (sent) => {
      if (sent.to === ben.id) void evil.keys.receive(ada.id, sent.message);
      return [];
    };
    other.service = ({ from, message }) => {
      void ada.keys.receive(from, message);
      return [];
    };
    room.meet(ada, ben);
    evil.keys.follow(new Set([ada.id]), [ada.id]);
    await opens(ada.keys.opener('ben', evil.instance, TRACK), evil, 1);
    await opens(evil.keys.opener('ada', ada.instance, TRACK), ada, 1);
    await room.until('they have keys', async () => (await ada.keys.code())?.participants.length === 1);
    assert.notEqual((await ada.keys.code())?.code, (await ben.keys.code())?.code);

    // It steps back, so that the codes become the same.
    room.service = (sent) => [sent];
    other.service = () => [];
    await room.clock.advance(1500);
    room.meet(ada, ben);
    await commonCode(room, [ada, ben]);
    await opens(ben.keys.opener('ada', ada.instance, TRACK), ada, 5);
    await refused(
      other,
      evil.keys
        .opener('ada', ada.instance, 'screen/high')
        .decrypt(6, 0, await ada.keys.sealer('screen/high').encrypt(6, 0, frame(6))),
    );
    await refused(
      room,
      ada.keys
        .opener('ben', evil.instance, 'screen/high')
        .decrypt(6, 0, await evil.keys.sealer('screen/high').encrypt(6, 0, frame(6))),
    );
    await opens(ada.keys.opener('ben', ben.instance, TRACK), ben, 7);
  });

  it('[MEDIA-27] or a member with many public keys gets few answers, and an earlier public key does not come back', async () => {
    const [room, other] = [keyRoom(), keyRoom()];
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    room.meet(ada, ben);
    await opens(ben.keys.opener('ada', ada.instance, TRACK), ada, 1);
    const again = await other.enter('ben', { instance: '1111111ben' });
    again.keys.follow(new Set([ada.id]), [ada.id]);
    const [first, second] = [room.sent.find(({ from }) => from === 'ben'), other.sent[0]];
    assert.ok(first !== undefined && second !== undefined);
    const answersTo = async (rounds: number, stepMs: number): Promise<number> => {
      const before = room.sent.length;
      for (let round = 0; round < rounds; round += 1) {
        await ada.keys.receive('ben', { ...first.message, asks: true });
        await ada.keys.receive('ben', { ...second.message, asks: true });
        await room.clock.advance(stepMs);
      }
      return room.sent.slice(before).filter(({ from }) => from === 'ada').length;
    };
    const atOnce = await answersTo(60, 0);
    assert.ok(atOnce <= 1, `${atOnce} answers at once`);
    await room.clock.advance(1000);
    const later = await answersTo(60, 50);
    assert.ok(later <= 6, `${later} answers in three seconds`);
    const code = (await ada.keys.code())?.participants;
    assert.ok(code === undefined || code.length <= 1);
  });

  it('[MEDIA-27] [MEDIA-28] that repeats an earlier message brings back no earlier key', async () => {
    const room = keyRoom();
    const [ada, ben, cem] = [await room.enter('ada'), await room.enter('ben'), await room.enter('cem')];
    room.meet(ada, ben, cem);
    const open = ben.keys.opener(ada.id, ada.instance, TRACK);
    const early = await ada.keys.sealer(TRACK).encrypt(5, 0, frame(5));
    assert.ok(await ben.keys.opener(ada.id, ada.instance, TRACK).decrypt(5, 0, early));
    const given = room.sent.filter(({ from, to }) => from === ada.id && to === ben.id);
    // Cem had that key, and forges with it what Ada did not say.
    const kept = ada.keys.sealer(TRACK);
    const forged = await kept.encrypt(8, 0, frame(8));
    assert.ok(await cem.keys.opener(ada.id, ada.instance, TRACK).decrypt(8, 0, forged));
    room.meet(ada, ben);
    await room.until('Ben has the next key', async () => {
      await room.clock.advance(100);
      const closed = await ada.keys.sealer(TRACK).encrypt(6, 0, frame(6));
      return (closed[1] ?? 0) >> 4 === 1 && (await open.decrypt(6, 0, closed)) !== undefined;
    });
    await room.clock.advance(2100);
    for (const { from, message } of given) await ben.keys.receive(from, message);
    assert.equal(await open.decrypt(8, 0, forged), undefined);
  });
});

async function opens(opener: FrameOpener, from: Party, group: number): Promise<void> {
  const closed = await from.keys.sealer(TRACK).encrypt(group, 0, frame(group));
  assert.deepEqual(await withKey(opener.decrypt(group, 0, closed)), frame(group));
}

async function refused(room: KeyRoom, opening: Promise<Uint8Array | undefined>): Promise<void> {
  assert.equal(await afterWaiting(room, opening), undefined);
}

const swapped = ({ publicKey, proof }: KeySignal): Pick<KeySignal, 'publicKey' | 'proof'> => ({
  publicKey,
  proof,
});
