import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallPath, Link } from '@parley/sdk/call';
import { linkMeaning } from '../src/text/link-meaning.ts';
import { pathText } from '../src/text/paths.ts';

const RELAYED: CallPath = { kind: 'sfu', reason: 'people', encrypted: true };
const over = (path: 'direct' | 'turn' | 'sfu'): { readonly link: Link } => ({
  link: { status: 'connected', path, quality: 'good', roundTripMs: null, lossPercent: null },
});
const NONE: { readonly link: Link } = { link: { status: 'no-media' } };

test('[MEDIA-22] of a call through relays it is said who is connected directly all the same', () => {
  const last = (...people: readonly { readonly link: Link }[]): string | undefined =>
    pathText(RELAYED, people).title.split('. ').at(-1);
  assert.match(pathText(RELAYED, [over('sfu'), NONE]).title, /only people with your link get the keys\.$/);
  assert.equal(
    last(over('sfu'), over('direct'), NONE),
    'What one person sends you comes from them directly.',
  );
  assert.equal(last(over('turn'), over('direct')), 'What 2 people send you comes from them directly.');
  assert.match(
    pathText({ ...RELAYED, encrypted: false }, [over('direct')]).title,
    /comes from them directly\.$/,
  );
});

test('of a call from person to person nothing is said about single people', () => {
  const { title } = pathText({ kind: 'mesh', reason: null }, [over('direct')]);
  assert.doesNotMatch(title, /directly/);
});

test('[MEDIA-16] of a connection it is said that relays can read it exactly where the link has no key', () => {
  const texts = (encrypted: boolean): (string | null)[] =>
    [over('direct'), over('turn'), over('sfu'), NONE].map(({ link }) => linkMeaning(link, encrypted));
  const [direct, turn, relays, none] = texts(false);
  assert.match(direct ?? '', /encrypted on the way between you/);
  assert.match(turn ?? '', /cannot read it/);
  assert.match(relays ?? '', /they can read it/);
  assert.match(none ?? '', /does not arrive/);
  assert.deepEqual(texts(true), [direct, turn, texts(true)[2], none]);
  assert.match(texts(true)[2] ?? '', /cannot read it/);
  for (const status of ['connecting', 'recovering', 'failed'] as const)
    assert.equal(linkMeaning({ status }, true), null, 'nothing forwards anything');
  assert.match(linkMeaning({ status: 'other-key' }, true) ?? '', /Send them yours/);
  assert.match(linkMeaning({ status: 'other-key' }, false) ?? '', /yours has none/);
});
