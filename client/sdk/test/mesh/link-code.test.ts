/** The code of calls from peer to peer: the same for all whose browsers are connected with each other, and for no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkCode } from '../../src/mesh/link-code.ts';
import type { Ends } from '../../src/mesh/peer.ts';

const ROOM = 'standup@eu';
const [ADA, BEN, CEM] = ['p0000000000000001', 'p0000000000000002', 'p0000000000000003'];
const CERTIFICATES = { [ADA]: 'AA:01', [BEN]: 'BB:02', [CEM]: 'CC:03' };

/** As browsers write it: for the session, or for each of its media. */
const described = (...certificates: readonly string[]): string =>
  ['v=0', ...certificates.map((one) => `a=fingerprint:sha-256 ${one}`), 'm=audio 9'].join('\r\n');

type Seen = Readonly<Record<string, string>>;

/** The code that a participant sees who sees these certificates. */
function codeOf(me: string, seen: Seen = CERTIFICATES, room = ROOM): ReturnType<LinkCode['of']> {
  const local = described(seen[me] ?? '');
  const links = new Map<string, Ends>();
  for (const [other, certificate] of Object.entries(seen))
    if (other !== me) links.set(other, { local, remote: described(certificate) });
  return new LinkCode(crypto.subtle, room).of(me, links);
}

test('[MEDIA-30] all see one code of twenty digits, which names the others', async () => {
  const [ofAda, ofBen, ofCem] = await Promise.all([codeOf(ADA), codeOf(BEN), codeOf(CEM)]);
  assert.match(ofAda?.code ?? '', /^\d{5} \d{5} \d{5} \d{5}$/);
  assert.deepEqual([ofBen?.code, ofCem?.code], [ofAda?.code, ofAda?.code]);
  assert.deepEqual(ofBen?.participants, [ADA, CEM]);
});

test('[MEDIA-30] one who is between two browsers with certificates of its own changes the code of both', async () => {
  const [ofAda, ofBen] = await Promise.all([
    codeOf(ADA, { ...CERTIFICATES, [BEN]: 'EE:01' }),
    codeOf(BEN, { ...CERTIFICATES, [ADA]: 'EE:02' }),
  ]);
  const codes = new Set([ofAda?.code, ofBen?.code, (await codeOf(CEM))?.code]);
  assert.equal(codes.size, 3);
});

test('[MEDIA-30] another room, and another participant with the same certificate, have another code', async () => {
  const { [ADA]: ada = '', [BEN]: ben = '' } = CERTIFICATES;
  const codes = await Promise.all([
    codeOf(ADA, { [ADA]: ada, [BEN]: ben }),
    codeOf(ADA, { [ADA]: ada, [CEM]: ben }),
    codeOf(ADA, { [ADA]: ben, [BEN]: ada }),
    codeOf(ADA, { [ADA]: ada, [BEN]: ben }, 'other@eu'),
  ]);
  assert.equal(new Set(codes.map((code) => code?.code)).size, codes.length);
});

test('[MEDIA-30] the order and the case of fingerprints, and how often they are repeated, make no difference', async () => {
  const code = new LinkCode(crypto.subtle, ROOM);
  const of = (local: string, remote: string) => code.of(ADA, new Map([[BEN, { local, remote }]]));
  const plain = await of(described('AA', 'BB'), described('CC'));
  assert.equal((await of(described('bb', 'aa'), described('CC', 'CC')))?.code, plain?.code);
});

test('[MEDIA-30] there is none without a link, without a fingerprint, and with another own certificate for each link', async () => {
  const code = new LinkCode(crypto.subtle, ROOM);
  const ends = { local: described('AA'), remote: described('BB') };
  const of = (...links: readonly Ends[]) =>
    code.of(ADA, new Map(links.map((link, at) => [[BEN, CEM][at] ?? '', link])));
  assert.ok(await of(ends, { ...ends, remote: described('CC') }));
  for (const links of [
    [],
    [{ ...ends, local: 'v=0' }],
    [{ ...ends, remote: 'v=0' }],
    [ends, { local: described('DD'), remote: described('CC') }],
  ])
    assert.equal(await of(...links), null);
});
