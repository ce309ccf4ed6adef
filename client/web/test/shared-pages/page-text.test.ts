import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeNames } from '@parley/protocol/codes';
import type { PagePeer, PageView, PagePath } from '@parley/sdk/pages/api';
import { MAX_NAME_CHARS, typeOf, contentOfText } from '../../src/shared-pages/draft.ts';
import { stepPoints } from '../../src/shared-pages/step-chart.ts';
import { pageRoute } from '../../src/shared-pages/page-route.ts';
import { refusedFor, REFUSALS } from '../../src/shared-pages/refusals.ts';
import { disabledText } from '../../src/shared-pages/content/disabled-text.ts';
import { formatBinarySize, historyText, sourcesText, countsText } from '../../src/shared-pages/page-text.ts';
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
  assert.deepEqual(pageRoute('/p'), { at: 'create' });
  assert.deepEqual(pageRoute('/p/'), { at: 'create' });
  assert.deepEqual(pageRoute(`/p/${PAGE}`), { at: 'read', page: PAGE });
  for (const invalid of ['/p/a0', `/p/${PAGE.toUpperCase()}`, `/p/${PAGE}/x`, `/p/${PAGE}0`])
    assert.deepEqual(pageRoute(invalid), { at: 'invalid' }, invalid);
  assert.ok(isPage('/p') && isPage(`/p/${PAGE}`) && !isPage('/page'));
});

test('a sentence states who has a page', () => {
  assert.equal(countsText({ holders: null, readers: null }), 'Counting…');
  assert.equal(countsText({ holders: 1, readers: 0 }), '1 has it');
  assert.equal(countsText({ holders: 1200, readers: 3 }), '1\u202f200 have it, 3 fetching');
  assert.equal(countsText({ holders: 0, readers: 2 }), 'No one has it, 2 fetching');
});

test('the description of the paths says which of them can read the page', () => {
  assert.equal(sourcesText([by('connecting')], { readable: true }), null);
  assert.equal(
    sourcesText([by('direct')], { readable: true }),
    'From one other: directly from browser to browser.',
  );
  assert.match(
    sourcesText([by('direct'), by('relay')], { readable: true }) ?? '',
    /From 2 others.*1 through.*can read it/,
  );
  assert.match(
    sourcesText([by('relay')], { readable: false }) ?? '',
    /cannot read it, because it is encrypted/,
  );
  assert.match(sourcesText([by('turn')], { readable: true }) ?? '', /TURN server, which cannot read it/);
});

test('the chart of holders has steps, and a text alternative', () => {
  const history: PageView['history'] = [
    { at: 1000, holders: 1 },
    { at: 61_000, holders: 4 },
    { at: 91_000, holders: 2 },
  ];
  assert.equal(historyText(history, 121_000), 'Over 2:00: at first 1, at most 4, now 2.');
  assert.equal(historyText([], 0), 'No data yet.');
  assert.deepEqual(
    stepPoints(history, 121_000).map(({ x, y }) => [x, y]),
    [
      [0, 1],
      [0.5, 1],
      [0.5, 4],
      [0.75, 4],
      [0.75, 2],
      [1, 2],
    ],
  );
  assert.deepEqual(stepPoints([], 0), []);
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
  assert.deepEqual([0, 999, 1536, 16_777_216, 100_000_000].map(formatBinarySize), [
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
  assert.equal(disabledText({ links: 0, images: 0 }), 'Disabled here: scripts.');
  assert.equal(disabledText({ links: 2, images: 1 }), 'Disabled here: scripts, 2 links, 1 image.');
});
