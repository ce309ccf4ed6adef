/** Which pods revoke the media tokens of a participant that left, and up to which generation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import { MAX_RELAY_MUTES, type MediaRelay, type RelayMutes } from '@parley/protocol/media';
import type { Effect } from '../../src/core/effects.ts';
import type { MediaListener, Revocation } from '../../src/core/ports.ts';
import { MediaAccess, type MediaAccessParts } from '../../src/server/media-access.ts';
import { mediaHosts } from '../../src/server/media-hosts.ts';

const ROOM = 'k7m3-q9xd-w2hn-5tzp';
const ADA = 'p0000000000000001';
const RELAY: MediaRelay = {
  relay: 'relay-1',
  epoch: 1,
  role: 'origin',
  url: 'https://relay.example:4443/',
  certificateHashes: [],
  sessions: 0,
  capacity: 1,
};
const US = { name: 'us', url: 'https://us.example' };
const FAR: MediaRelay = { ...RELAY, url: 'https://far.example:4443/', certificateHashes: ['hash'] };
const MINUTES_5 = 5;
const HOUR = 60;

type Departure = Effect & { type: 'departed' };
type Signed = Parameters<MediaAccessParts['tokens']['signMedia']>[0];

function start(own: readonly MediaRelay[] = [RELAY]) {
  let listener: MediaListener | undefined;
  const revoked: Revocation[] = [];
  const mutes: RelayMutes[] = [];
  const signed: Signed[] = [];
  const signMedia = (claims: Signed): string => `token ${signed.push(claims)}`;
  const access = new MediaAccess({
    limits: defaultLimits(),
    tokens: { signMedia } as unknown as MediaAccessParts['tokens'],
    openMedia: (given) => {
      listener = given;
      return { revoke: (one) => void revoked.push(one), mute: (one) => void mutes.push(one) };
    },
    hosts: mediaHosts([]),
    otherRegions: [US],
    metrics: { refusedRelays: 0 },
    log: { warn: () => {} },
    now: () => 0,
    leaseNow: () => 0,
  });
  for (const relay of own) listener?.onRelay(relay);
  return {
    access,
    revoked,
    mutes,
    signed,
    onFarRelay: (of: string, relay = FAR) => listener?.onFarRelay(of, relay),
  };
}

const departure = (changes: Partial<Departure>): Departure => ({
  type: 'departed',
  participant: ADA,
  generation: 3,
  reason: 'left',
  wasHere: false,
  wasInRegion: false,
  ...changes,
});

test('[MEDIA-4] a token has the generation of the connection that asked for it', () => {
  const { access, signed } = start();
  access.offer(ROOM, { participant: ADA, generation: 3 }, [ADA]);
  access.offerLive('cam', {});
  assert.deepEqual(
    signed.map(({ generation }) => generation),
    [3, undefined],
  );
});

test('[TRACE-2] the token for the relay of a traced join has the claim that leads to its span', () => {
  const { access, signed } = start();
  const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA], { trace });
  access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA]);
  assert.deepEqual(
    signed.map((claims) => claims.trace),
    [trace, undefined],
  );
});

test('[MEDIA-24] the answer names a relay of another region, with the token of the own one and how long it is good', () => {
  const { access, signed, onFarRelay } = start();
  assert.equal(access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA]).standby, undefined);
  onFarRelay('us');
  const { relay, standby } = access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA]);
  assert.equal(relay?.url, RELAY.url);
  assert.deepEqual(standby, {
    url: FAR.url,
    token: relay?.token,
    certificateHashes: FAR.certificateHashes,
    api: US.url,
    renewAfterMs: 150_000,
  });
  assert.equal(signed.length, 2, 'one token for each answer');
});

test('[MEDIA-24] without a relay of its own, the region offers that of another one with a token that is revoked as others are', () => {
  const { access, revoked, signed, onFarRelay } = start([]);
  assert.deepEqual(access.offer(ROOM, { participant: ADA, generation: 3 }, [ADA]), { relay: null });
  onFarRelay('us');
  const { relay, standby } = access.offer(ROOM, { participant: ADA, generation: 3 }, [ADA]);
  assert.equal(relay, null);
  assert.deepEqual([standby?.url, standby?.token, standby?.api], [FAR.url, 'token 1', US.url]);
  assert.equal(signed[0]?.generation, 3);
  access.departed(departure({ reason: 'left', wasInRegion: true }));
  assert.deepEqual(
    revoked.map(({ participant, generation }) => [participant, generation]),
    [[ADA, 3]],
  );
});

test('[MEDIA-24] relays of other regions are never the relay itself, and are refused by their host as others are', () => {
  const { access, onFarRelay } = start();
  onFarRelay('us', { ...FAR, url: 'https://127.0.0.1:4443/' });
  assert.equal(access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA]).standby, undefined);
  onFarRelay('us');
  const again = access.offer(ROOM, { participant: ADA, generation: 1 }, [ADA], { exclude: RELAY.url });
  assert.equal(again.relay?.url, RELAY.url);
  assert.equal(access.relays, 1);
});

test('[MEDIA-7] [MEDIA-24] where only other regions have relays, a participant that was kicked is revoked there', () => {
  const { access, revoked, onFarRelay } = start([]);
  access.departed(departure({ ...here, reason: 'kicked' }));
  assert.deepEqual(revoked, []);
  onFarRelay('us');
  access.departed(departure({ ...here, reason: 'kicked' }));
  assert.deepEqual(
    revoked.map(({ participant, generation }) => [participant, generation]),
    [[ADA, 3]],
  );
});

const here = { wasHere: true, wasInRegion: true };
const region = { wasInRegion: true };
const elsewhere = {};
for (const [title, changes, without, withToken] of [
  ['left here', { ...here }, undefined, MINUTES_5],
  ['left in the region', { ...region }, undefined, MINUTES_5],
  ['left in another region', { ...elsewhere }, undefined, MINUTES_5],
  ['was lost here', { ...here, reason: 'lost' }, MINUTES_5, MINUTES_5],
  ['was lost in the region', { ...region, reason: 'lost' }, MINUTES_5, MINUTES_5],
  ['seems to be lost in another region', { ...elsewhere, reason: 'lost' }, undefined, undefined],
  ['was kicked here', { ...here, reason: 'kicked' }, HOUR, HOUR],
  ['was kicked in the region', { ...region, reason: 'kicked' }, undefined, MINUTES_5],
  ['was here when its room was deleted', { ...here, reason: 'room-deleted' }, HOUR, HOUR],
] as const)
  test(`[MEDIA-7] a participant that ${title}`, () => {
    for (const [hasToken, minutes] of [
      [false, without],
      [true, withToken],
    ] as const) {
      const { access, revoked } = start();
      if (hasToken) access.offer(ROOM, { participant: ADA, generation: 2 }, [ADA]);
      access.departed(departure(changes));
      assert.deepEqual(
        revoked.map(({ participant, generation }) => [participant, generation]),
        minutes === undefined ? [] : [[ADA, 3]],
      );
      for (const { untilS } of revoked) assert.equal(Math.floor((untilS - Date.now() / 1000) / 60), minutes);
    }
  });

test('[MEDIA-29] mutes are said where a relay of any region is, in messages of at most so many participants', () => {
  const muted = Array.from({ length: MAX_RELAY_MUTES + 1 }, (_, at) => `p${String(at).padStart(16, '0')}`);
  const effect = { type: 'relay-mutes', muted, unmuted: [ADA] } as const;
  const { access, mutes, onFarRelay } = start([]);
  access.mute(effect);
  assert.equal(mutes.length, 0, 'no relay');
  onFarRelay('us');
  access.mute(effect);
  assert.deepEqual(
    mutes.map((one) => [one.muted.length, one.unmuted.length]),
    [
      [MAX_RELAY_MUTES, 1],
      [1, 0],
    ],
  );
});
