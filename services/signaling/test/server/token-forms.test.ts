/** Which tokens a pod accepts, checked against `jose`, an independent implementation; and forged, malformed and ambiguous ones. */
import assert from 'node:assert/strict';
import { createPrivateKey, sign, type JsonWebKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { SignJWT, errors, importJWK, jwtVerify, type JWK } from 'jose';
import { participantId } from '@parley/protocol/ids';
import { CLOCK_TOLERANCE_S } from '../../src/adapters/key-set.ts';
import { createTokens } from '../../src/adapters/tokens.ts';
import { implausible } from '../../src/server/plausible.ts';
import { NO_MEDIA } from '../support/client.ts';
import { keySet, randomRoom } from '../support/pod.ts';

const HOUR_MS = 3_600_000;
const INVALID = { ok: false, reason: 'invalid' } as const;
const [own, other] = [keySet('own').keys[0] as JsonWebKey, keySet('other').keys[0] as JsonWebKey];
const SET = { active: 'own', keys: [own, other] };
/** Signs nothing itself, so that it remembers no ticket. */
const tokens = createTokens(SET);
const room = randomRoom();
const sub = participantId(Buffer.alloc(16, 7));
const inAnHour = Math.floor((Date.now() + HOUR_MS) / 1000);
const CLAIMS = { sub, room, iss: 'parley', aud: 'parley:ticket', exp: inAnHour };
const HEADER = { alg: 'EdDSA', kid: 'own' };

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const part = (value: object): string => base64url(JSON.stringify(value));

/** A valid signature over whatever text the two parts are. */
function signedParts(header: string, payload: string, key = own): string {
  const signed = `${header}.${payload}`;
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}
const signed = (header: object, payload: object = CLAIMS): string => signedParts(part(header), part(payload));
const good = signed(HEADER);
const [goodHead = '', goodPayload = '', goodSignature = ''] = good.split('.');

describe('[KEY-1] tokens of pods and of another implementation are alike', () => {
  test('[KEY-1] [KEY-6] another implementation verifies what a pod signs, with the header and the claims as they were meant', async () => {
    const key = await importJWK({ ...own, d: undefined } as unknown as JWK, 'EdDSA');
    const pod = createTokens(SET);
    const issued = [
      ['parley:ticket', pod.signTicket({ sub, room }, HOUR_MS)],
      ['parley:resume', pod.signResume({ sub, room, generation: 1, since: 0 }, HOUR_MS)],
      ['parley:media', pod.signMedia({ sub, publish: ['a'], subscribe: [], iat: 1 }, HOUR_MS)],
      ['parley:streams', pod.signPipe({ sub, publish: [], subscribe: ['pages/x'] }, HOUR_MS)],
    ] as const;
    for (const [audience, token] of issued) {
      const read = await jwtVerify(token, key, { audience, issuer: 'parley', algorithms: ['EdDSA'] });
      assert.deepEqual(read.protectedHeader, HEADER);
      assert.equal(read.payload.sub, sub);
    }
  });

  test('[KEY-1] a pod verifies what another implementation signs with any key of the set', async () => {
    for (const [jwk, kid] of [
      [own, 'own'],
      [other, 'other'],
    ] as const) {
      const key = await importJWK(jwk as unknown as JWK, 'EdDSA');
      const ticket = new SignJWT({ ...CLAIMS }).setProtectedHeader({ typ: 'JWT', alg: 'EdDSA', kid });
      assert.deepEqual(tokens.verifyTicket(await ticket.sign(key)), { ok: true, claims: CLAIMS });
      const claims = { ...CLAIMS, aud: 'parley:resume', generation: 1, since: 0, iat: 1 };
      const resume = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'EdDSA', kid });
      assert.deepEqual(tokens.verifyResume(await resume.sign(key)), { ok: true, claims });
    }
  });

  test('[KEY-4] a pod and another implementation agree on exp, nbf, iat, audience and issuer', async (context) => {
    const nowS = Math.floor(Date.now() / 1000);
    context.mock.timers.enable({ apis: ['Date'], now: nowS * 1000 });
    const key = await importJWK({ ...own, d: undefined } as unknown as JWK, 'EdDSA');
    const tolerance = CLOCK_TOLERANCE_S;
    const options = { audience: 'parley:ticket', issuer: 'parley', clockTolerance: tolerance };
    const cases = [-tolerance - 1, -tolerance, 1 - tolerance, 0, tolerance, tolerance + 1].flatMap((by) => [
      { exp: nowS + by },
      { nbf: nowS + by },
      { exp: nowS + by, nbf: nowS + by },
      { iat: nowS + by },
      { exp: nowS + by, aud: 'parley:resume' },
    ]);
    const strange = [
      { exp: `${inAnHour}` },
      { nbf: '0' },
      { iat: '0' },
      { exp: null },
      { iss: 'parlay' },
      {},
    ];
    for (const change of [...cases, ...strange]) {
      const token = signed(HEADER, { ...CLAIMS, ...change });
      const theirs = await jwtVerify(token, key, options).then(
        () => 'ok',
        (error: unknown) => (error instanceof errors.JWTExpired ? 'expired' : 'invalid'),
      );
      const ours = tokens.verifyTicket(token);
      assert.equal(ours.ok ? 'ok' : ours.reason, theirs, JSON.stringify(change));
    }
  });
});

/** The order of the group, for a second signature of the same text (RFC 8032 §8.4). */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

function withTheOrderAdded(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url');
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32).toReversed()).toString('hex')}`) + ORDER;
  const changed = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').toReversed();
  return Buffer.concat([bytes.subarray(0, 32), changed]).toString('base64url');
}

/** The same bytes for a lenient decoder: `Buffer` ignores the bits after the last byte. */
function withSpareBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1) ?? '') + 1];
}

/** Claims whose encoding ends within a byte, and has a character that the two alphabets of base64 spell differently. */
const odd = base64url(JSON.stringify({ ...CLAIMS, pad: '~~~?' }).padEnd(1 + 3 * 100));
const withDuplicates = (first: string, last: string): string =>
  base64url(JSON.stringify({ ...CLAIMS, aud: first, x: 0 }).replace('"x":0', `"aud":"${last}"`));

const HOSTILE: readonly (readonly [title: string, token: string])[] = [
  ['alg none without a signature', `${part({ alg: 'none', kid: 'own' })}.${goodPayload}.`],
  ['alg none with a good signature', signed({ alg: 'none', kid: 'own' })],
  ['no alg', signed({ kid: 'own' })],
  ['an alg of another case', signed({ ...HEADER, alg: 'EDDSA' })],
  ['the alg of another name for the same', signed({ ...HEADER, alg: 'Ed25519' })],
  ['several algs', signed({ ...HEADER, alg: ['EdDSA'] })],
  ['a crit extension', signed({ ...HEADER, crit: ['exp'], exp: inAnHour })],
  ['an empty crit', signed({ ...HEADER, crit: [] })],
  ['a crit of null', signed({ ...HEADER, crit: null })],
  ['an unencoded payload', signed({ ...HEADER, b64: false, crit: ['b64'] })],
  ['no kid', signed({ alg: 'EdDSA' })],
  ['an unknown kid', signed({ ...HEADER, kid: 'gone' })],
  ['a kid of another type', signed({ ...HEADER, kid: ['own'] })],
  ['the kid of a property of every object', signed({ ...HEADER, kid: 'constructor' })],
  ['the kid of another key of the set', signed({ ...HEADER, kid: 'other' })],
  [
    'a key in the header',
    signedParts(part({ alg: 'EdDSA', jwk: { ...other, d: undefined } }), goodPayload, other),
  ],
  ['a header that is null', signedParts(base64url('null'), goodPayload)],
  ['a header that is a list', signedParts(base64url('[]'), goodPayload)],
  ['a payload that is a list', signedParts(goodHead, base64url('[]'))],
  ['a payload that is no JSON', signedParts(goodHead, base64url('claims'))],
  ['an empty payload', signedParts(goodHead, '')],
  ['an empty header', signedParts('', goodPayload)],
  ['a list of audiences', signed(HEADER, { ...CLAIMS, aud: ['parley:ticket'] })],
  ['no end', signed(HEADER, { ...CLAIMS, exp: undefined })],
  [
    'an end that no number holds',
    signedParts(goodHead, base64url(JSON.stringify(CLAIMS).replace(`${inAnHour}`, '1e999'))),
  ],
  ['a dot before it', `.${good}`],
  ['a dot after it', `${good}.`],
  ['two dots in a row', good.replace('.', '..')],
  ['four parts', `${good}.${goodSignature}`],
  ['a padded signature', `${good}==`],
  ['a padded payload', signedParts(goodHead, `${odd}==`)],
  ['another alphabet', signedParts(goodHead, odd.replaceAll('-', '+').replaceAll('_', '/'))],
  ['spare bits in the payload', signedParts(goodHead, withSpareBits(odd))],
  ['spare bits in the signature', `${goodHead}.${goodPayload}.${withSpareBits(goodSignature)}`],
  ['a second signature of the same text', `${goodHead}.${goodPayload}.${withTheOrderAdded(goodSignature)}`],
  ['a newline after it', `${good}\n`],
  ['a space before it', ` ${good}`],
  ['a null character in it', good.replace('.', '\0.')],
  ['characters outside of ASCII', signedParts(`${goodHead}\u{2e80}`, goodPayload)],
  ['a longer signature', `${good}AAAA`],
  ['a shorter signature', good.slice(0, -4)],
  ['no signature', `${goodHead}.${goodPayload}.`],
  ['a signature of zeros', `${goodHead}.${goodPayload}.${'A'.repeat(86)}`],
  ['a million characters', 'A'.repeat(1_000_000)],
  ['a million dots', '.'.repeat(1_000_000)],
  ['a megabyte of claims', `${goodHead}.${part({ ...CLAIMS, pad: 'x'.repeat(1_000_000) })}.${goodSignature}`],
  [
    'an alg that is repeated as none',
    signedParts(base64url('{"alg":"EdDSA","kid":"own","alg":"none"}'), goodPayload),
  ],
  [
    'an audience that is repeated as another',
    signedParts(goodHead, withDuplicates('parley:ticket', 'parley:resume')),
  ],
];

describe('[KEY-7] one form of a token, and one spelling', () => {
  test('[KEY-7] the token that these are made of is valid, and so are other claims of an odd length', () => {
    assert.ok(tokens.verifyTicket(good).ok);
    assert.ok(odd.length % 4 > 1 && /[-_]/.test(odd), odd);
    assert.ok(tokens.verifyTicket(signedParts(goodHead, odd)).ok);
  });

  for (const [title, token] of HOSTILE)
    test(`[KEY-7] ${title}: refused`, () => assert.deepEqual(tokens.verifyTicket(token), INVALID));

  test('[KEY-7] the public key as an HMAC secret: refused', async () => {
    const secret = Buffer.from(own.x ?? '', 'base64url');
    const forged = await new SignJWT({ ...CLAIMS })
      .setProtectedHeader({ alg: 'HS256', kid: 'own' })
      .sign(secret);
    assert.deepEqual(tokens.verifyTicket(forged), INVALID);
  });

  test('[KEY-7] [LIM-12] claims that are repeated are read alike before and after the signature: the last counts', () => {
    const about = { type: 'enter', generation: 1, name: 'Eve', media: NO_MEDIA } as const;
    const ticket = signedParts(goodHead, withDuplicates('parley:resume', 'parley:ticket'));
    assert.equal(implausible({ ...about, ticket }, room), undefined);
    assert.deepEqual(tokens.verifyTicket(ticket), { ok: true, claims: CLAIMS });
  });
});
