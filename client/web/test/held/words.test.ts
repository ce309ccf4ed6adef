import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeNames } from '@parley/protocol/codes';
import type { PagePeer, PageView, PagePath } from '@parley/sdk/pages/api';
import { MAX_NAME_CHARS, typeOf, contentOfText } from '../../src/held/draft.ts';
import { steps } from '../../src/held/steps.ts';
import { placeOf } from '../../src/held/place.ts';
import { refusedFor, REFUSALS } from '../../src/held/refusals.ts';
import { switchedOff } from '../../src/held/shown/switched-off.ts';
import { amount, historyWords, sources, standing } from '../../src/held/words.ts';
import { isPage } from '../../src/route.ts';

const PAGE = 'a0'.repeat(32);
const by = (path: PagePath, received = 1): PagePeer => ({
  visitor: 'v',
  path,
  whole: true,
  received,
  sent: 0,
});

test('an address under /p shows a page, or the form that creates one', () => {
  assert.deepEqual(placeOf('/p'), { at: 'make' });
  assert.deepEqual(placeOf('/p/'), { at: 'make' });
  assert.deepEqual(placeOf(`/p/${PAGE}`), { at: 'read', page: PAGE });
  for (const nowhere of ['/p/a0', `/p/${PAGE.toUpperCase()}`, `/p/${PAGE}/x`, `/p/${PAGE}0`])
    assert.deepEqual(placeOf(nowhere), { at: 'nowhere' }, nowhere);
  assert.ok(isPage('/p') && isPage(`/p/${PAGE}`) && !isPage('/page'));
});

test('a sentence states who has a page', () => {
  assert.equal(standing({ holders: null, readers: null }), 'Counting…');
  assert.equal(standing({ holders: 1, readers: 0 }), '1 has it');
  assert.equal(standing({ holders: 1200, readers: 3 }), '1\u202f200 have it, 3 fetching');
  assert.equal(standing({ holders: 0, readers: 2 }), 'No one has it, 2 fetching');
});

test('the description of the paths says which of them can read the page', () => {
  assert.equal(sources([by('connecting')], { open: true }), null);
  assert.equal(sources([by('direct')], { open: true }), 'From one other: directly from browser to browser.');
  assert.match(
    sources([by('direct'), by('relay')], { open: true }) ?? '',
    /From 2 others.*1 through.*can read it/,
  );
  assert.match(sources([by('relay')], { open: false }) ?? '', /cannot read it, because it is encrypted/);
  assert.match(sources([by('turn')], { open: true }) ?? '', /TURN server, which cannot read it/);
});

test('the chart of holders has steps, and a text alternative', () => {
  const history: PageView['history'] = [
    { at: 1000, holders: 1 },
    { at: 61_000, holders: 4 },
    { at: 91_000, holders: 2 },
  ];
  assert.equal(historyWords(history, 121_000), 'Over 2:00: at first 1, at most 4, now 2.');
  assert.equal(historyWords([], 0), 'No data yet.');
  assert.equal(steps(history, 121_000), '0.0,41.5 120.0,41.5 120.0,4.0 180.0,4.0 180.0,29.0 240.0,29.0');
});

test('every refusal has a title and a next step, without internal terms', () => {
  for (const code of [...Object.keys(REFUSALS), ...codeNames(), 'constructor']) {
    const { title, body } = refusedFor({ code, message: 'x' });
    assert.match(title, /^[A-Z].{5,48}[^.]$/u, code);
    assert.match(body, /^[A-Z].{15,160}\.$/u, code);
    assert.doesNotMatch(`${title} ${body}`, /[A-Z]{2,}_|socket|token|pod\b|null/, code);
  }
  for (const code of codeNames().filter((name) => name.startsWith('PAGE') || name === 'TOO_MANY_PAGES'))
    assert.ok(Object.hasOwn(REFUSALS, code), code);
});

test('amounts have the units of limits', () => {
  assert.deepEqual([0, 999, 1536, 16_777_216, 100_000_000].map(amount), [
    '0 B',
    '999 B',
    '1.5 KiB',
    '16 MiB',
    '95.4 MiB',
  ]);
});

test('a file has the type of its browser or its extension, and a name that the protocol accepts', () => {
  assert.equal(typeOf('notes.md', ''), 'text/markdown');
  assert.equal(typeOf('a.html', 'text/html; charset=utf-8'), 'text/html');
  assert.equal(typeOf('x', 'not a type'), 'application/octet-stream');
  assert.equal(typeOf('a.constructor', ''), 'application/octet-stream');
  assert.equal(contentOfText('text', 'x', ' \u202e ').name, null);
  assert.ok((contentOfText('text', 'x', '🪶'.repeat(300)).name ?? '').length <= MAX_NAME_CHARS);
});

test('disabled links and images are counted', () => {
  assert.equal(switchedOff({ links: 0, pictures: 0 }), 'Disabled here: scripts.');
  assert.equal(switchedOff({ links: 2, pictures: 1 }), 'Disabled here: scripts, 2 links, 1 image.');
});
