import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFrame, encodeFrame } from '../../../src/sfu/frames.ts';
import { newSecret } from '../../../src/sfu/secret.ts';
import {
  afterWaiting,
  commonCode,
  keyRoom,
  withKey,
  type KeyRoom,
  type Party,
  type Sent,
} from '../../fakes/key-room.ts';

const TRACK = 'camera/low';
const OTHER_SECRET = newSecret(Uint8Array.from({ length: 16 }, () => 7));
const frame = (time: number): Uint8Array<ArrayBuffer> =>
  encodeFrame({ timestamp: time, payload: Uint8Array.of(1, 2, 3) });

/** What `from` sends in this group, as `to` decrypts it. */
async function heard(from: Party, to: Party, group = 1): Promise<Uint8Array | undefined> {
  const closed = await from.keys.sealer(TRACK).encrypt(group, 0, frame(group));
  return to.keys.opener(from.id, from.instance, TRACK).decrypt(group, 0, closed);
}

async function hears(to: Party, from: Party, group = 1): Promise<void> {
  assert.deepEqual(await withKey(heard(from, to, group)), frame(group));
}

async function hearsNot(room: KeyRoom, to: Party, from: Party, group = 1): Promise<void> {
  assert.equal(await afterWaiting(room, heard(from, to, group)), undefined);
}

const isRequestOf =
  (party: Party) =>
  ({ from, message }: Sent): boolean =>
    from === party.id && message.asks && message.sealed === undefined;
const ids = (parties: readonly Party[]): string[] => parties.map(({ id }) => id);

describe('keys of senders', () => {
  it('[MEDIA-27] are given to each participant, who decrypts with them what each other one sends', async () => {
    const room = keyRoom();
    const all = [await room.enter('ada'), await room.enter('ben'), await room.enter('cem')];
    room.meet(...all);
    for (const from of all)
      for (const to of all) if (from !== to) assert.deepEqual(await heard(from, to), frame(1));
    const closed = await all[0]?.keys.sealer(TRACK).encrypt(2, 0, frame(2));
    assert.ok(!Buffer.from(closed ?? []).includes(Buffer.of(1, 2, 3)));
    assert.equal(decodeFrame(closed ?? new Uint8Array())?.timestamp, 2, 'relays see the time');
  });

  it('[MEDIA-27] are in no message for a third one, and in none for one without the secret of the link', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    const eve = await room.enter('eve', { secret: OTHER_SECRET });
    room.meet(ada, ben, eve);
    await hears(ben, ada);
    await hearsNot(room, eve, ada);
    await hearsNot(room, ada, eve);
    assert.deepEqual((await ada.keys.code())?.participants, ids([ben]));
    // What was meant for Ben, sent to one who knows the secret, too.
    const fay = await room.enter('fay');
    fay.keys.follow(new Set([ada.id]), []);
    for (const { from, to, message } of room.sent)
      if (from === ada.id && to === ben.id) await fay.keys.receive(from, message);
    await hearsNot(room, fay, ada);
  });

  it('[MEDIA-27] are asked for again where messages are lost: frames wait for them, up to a second', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    let lost = 2;
    room.service = (sent) => ((lost -= 1) >= 0 ? [] : [sent]);
    room.meet(ada, ben);
    const sealer = ada.keys.sealer(TRACK);
    const [first, second] = [await sealer.encrypt(1, 0, frame(1)), await sealer.encrypt(2, 0, frame(2))];
    const opener = ben.keys.opener(ada.id, ada.instance, TRACK);
    const waiting = opener.decrypt(1, 0, first);
    await room.clock.advance(400);
    const later = opener.decrypt(2, 0, second);
    assert.deepEqual([await waiting, await later], [frame(1), frame(2)]);
    room.service = () => [];
    const cem = await room.enter('cem');
    room.meet(ada, ben, cem);
    await hearsNot(room, cem, ada);
  });

  it('[MEDIA-28] are replaced when a participant has gone: it decrypts nothing that follows, and the others all of it', async () => {
    const room = keyRoom();
    const [ada, ben, cem] = [await room.enter('ada'), await room.enter('ben'), await room.enter('cem')];
    room.meet(ada, ben, cem);
    await hears(ben, ada);
    await hears(cem, ada);
    const before = room.sent.length;
    // Cem goes on to listen at the relay and to the service, with the link and the keys it has.
    const toAll = room.service;
    room.service = (sent) => [...toAll(sent), { ...sent, to: cem.id }];
    room.meet(ada, ben);
    await room.until('Ben has the next key', () =>
      room.sent
        .slice(before)
        .some(({ from, to, message }) => from === ada.id && to === ben.id && 'sealed' in message),
    );
    await room.clock.advance(990);
    // The next key is not used yet.
    await hears(cem, ada, 2);
    await room.clock.advance(20);
    await hearsNot(room, cem, ada, 3);
    const asked = room.sent.length;
    assert.deepEqual(await heard(ada, ben, 3), frame(3));
    assert.deepEqual(await heard(ada, ben, 4), frame(4));
    assert.ok(!room.sent.slice(asked).some(isRequestOf(ben)), 'Ben had it before it was used');
  });

  it('[MEDIA-28] are replaced once where several leave within two seconds', async () => {
    const room = keyRoom();
    const all = await Promise.all(['ada', 'ben', 'cem', 'dua', 'eli'].map((name) => room.enter(name)));
    const [ada, ben] = all;
    assert.ok(ada !== undefined && ben !== undefined);
    room.meet(...all);
    for (const to of all.slice(1)) await hears(to, ada);
    const kidNow = async (): Promise<number> => {
      const closed = await ada.keys.sealer(TRACK).encrypt(9, 0, frame(9));
      return (closed[1] ?? 0) >> 4;
    };
    assert.equal(await kidNow(), 0);
    for (const left of [4, 3, 2]) room.meet(...all.slice(0, left));
    await room.clock.advance(1100);
    assert.equal(await kidNow(), 1);
    await room.clock.advance(2000);
    assert.equal(await kidNow(), 2, 'the second and third together');
    await room.clock.advance(5000);
    assert.equal(await kidNow(), 2);
    await hears(ben, ada, 10);
  });

  it('[MEDIA-28] of one who does not publish are sent when they are asked for', async () => {
    const room = keyRoom();
    const [ada, ben, cem] = [await room.enter('ada'), await room.enter('ben'), await room.enter('cem')];
    room.meet(ada, ben, cem);
    await hears(ben, ada);
    await hears(cem, ada);
    ada.publishes = false;
    const before = room.sent.length;
    room.meet(ada, ben);
    await room.clock.advance(1000);
    await hears(ben, ada, 2);
    assert.ok(room.sent.slice(before).some(isRequestOf(ben)));
  });

  it('[MEDIA-27] come from the page that a participant has now, after a reload too', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    room.meet(ada, ben);
    await hears(ben, ada);
    await hears(ada, ben);
    await room.clock.advance(1000);
    const again = await room.enter('ben', { instance: '1111111ben' });
    room.meet(ada, again);
    await hears(ada, again);
    await hears(again, ada);
    await commonCode(room, [ada, again]);
  });

  it('[MEDIA-27] are given once a second to one who asks without end', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    room.meet(ada, ben);
    await hears(ben, ada);
    await hears(ada, ben);
    const asks = room.sent.find(({ from }) => from === ben.id)?.message;
    assert.ok(asks !== undefined);
    await room.clock.advance(1000);
    const before = room.sent.length;
    for (let step = 0; step < 300; step += 1) {
      await Promise.all(Array.from({ length: 9 }, () => ada.keys.receive(ben.id, { ...asks, asks: true })));
      await room.clock.advance(10);
    }
    const given = room.sent.slice(before).filter(({ from }) => from === ada.id).length;
    assert.ok(given >= 2 && given <= 4, `${given}`);
  });

  it('[MEDIA-27] are asked for less and less often where there is no answer, and not of one who is away', async () => {
    const room = keyRoom();
    const [ada, ben] = [await room.enter('ada'), await room.enter('ben')];
    const asked = (): number => room.sent.filter(isRequestOf(ada)).length;
    room.service = () => [];
    room.reaches = () => false;
    for (let second = 0; second < 10; second += 1) {
      room.meet(ada, ben);
      await room.clock.advance(1000);
    }
    assert.equal(asked(), 0);
    room.reaches = () => true;
    for (let step = 0; step < 600; step += 1) {
      room.meet(ada, ben);
      await room.clock.advance(100);
    }
    assert.ok(asked() >= 8 && asked() <= 11, `${asked()} in a minute`);
  });

  it('[MEDIA-28] are used when those who can be reached have them, after a minute also without the others', async () => {
    const room = keyRoom();
    const all = [
      await room.enter('ada'),
      await room.enter('ben'),
      await room.enter('cem'),
      await room.enter('dua'),
    ];
    const [ada, ben, cem] = all;
    assert.ok(ada !== undefined && ben !== undefined && cem !== undefined);
    room.meet(...all);
    for (const to of all.slice(1)) await hears(to, ada);
    // Cem is beyond a cut when Dua leaves.
    room.reaches = (from, to) => from !== cem.id && to !== cem.id;
    const here = [ada, ben, cem];
    for (let second = 0; second < 30; second += 1) {
      room.meet(...here);
      await room.clock.advance(1000);
    }
    await hears(cem, ada, 40);
    await hears(ben, ada, 40);
    room.reaches = () => true;
    room.meet(...here);
    await room.until('Cem has the next key, and it is used', async () => {
      await room.clock.advance(100);
      const closed = await ada.keys.sealer(TRACK).encrypt(41, 0, frame(41));
      return (closed[1] ?? 0) >> 4 === 1;
    });
    for (const to of [ben, cem]) await hears(to, ada, 42);

    room.reaches = (from, to) => from !== cem.id && to !== cem.id;
    for (let second = 0; second < 70; second += 1) {
      room.meet(ada, cem);
      await room.clock.advance(1000);
    }
    const closed = await ada.keys.sealer(TRACK).encrypt(43, 0, frame(43));
    assert.equal((closed[1] ?? 0) >> 4, 2);
  });

  it('[MEDIA-27] have a code that is the same for all who have them, and another one with other participants, keys or links', async () => {
    const room = keyRoom();
    const all = [await room.enter('ada'), await room.enter('ben'), await room.enter('cem')];
    room.meet(...all);
    for (const from of all) for (const to of all) if (from !== to) await hears(to, from);
    const ofThree = await commonCode(room, all);
    assert.match(ofThree, /^\d{5} \d{5} \d{5} \d{5}$/);
    const [ada, ben] = all;
    assert.ok(ada !== undefined && ben !== undefined);
    room.meet(ada, ben);
    assert.equal(await ada.keys.code(), null, 'one has the key who is gone');
    const ofTwo = await commonCode(room, [ada, ben]);
    assert.notEqual(ofTwo, ofThree);
    const elsewhere = keyRoom();
    const same = [
      await elsewhere.enter('ada', { secret: OTHER_SECRET }),
      await elsewhere.enter('ben', { secret: OTHER_SECRET }),
    ];
    elsewhere.meet(...same);
    assert.notEqual(await commonCode(elsewhere, same), ofTwo);
  });

  it('[MEDIA-16] need a secret of 16 bytes in base64url', async () => {
    const room = keyRoom();
    for (const wrong of ['', OTHER_SECRET.slice(1), `${OTHER_SECRET}A`, ` ${OTHER_SECRET}`])
      await assert.rejects(room.enter('ada', { secret: wrong }), wrong);
  });
});
