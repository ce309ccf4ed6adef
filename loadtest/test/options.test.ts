import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

/** What a bench that must not start prints to standard error. */
function refusalOf(bench: string, ...args: readonly string[]): string {
  const program = fileURLToPath(new URL(`../src/bench-${bench}.ts`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  assert.equal(status, 2, stderr);
  assert.equal(stdout, '');
  return stderr;
}

for (const [bench, flag, known] of [
  ['signaling', '--rows', /no such row: nosuch; known: join, directed, memory, herd/],
  ['streams', '--rows', /no such row: nosuch; known: video-1-to-100, .*, idle, churn/],
  ['media', '--rows', /no such row: nosuch; known: video-1-to-30, .*, relays-3/],
  ['pages', '--only', /no such row: nosuch; known: swarm, holders/],
  ['calls', '--only', /no path has "nosuch" in its name; known: from peer to peer; /],
] as const) {
  test(`bench-${bench} refuses an unknown name and lists the known ones`, () => {
    assert.match(refusalOf(bench, `${flag}=nosuch`), known);
  });
}

test('a name that is unknown beside a known one is refused too', () => {
  assert.match(refusalOf('signaling', '--rows=join,nosuch'), /no such row: nosuch;/);
});

for (const bench of ['signaling', 'streams', 'media']) {
  test(`bench-${bench} refuses to measure no round`, () => {
    for (const rounds of ['0', 'many']) {
      assert.match(refusalOf(bench, `--rounds=${rounds}`), /--rounds must be at least 1/);
    }
  });
}

test('an unknown flag is refused with the usage', () => {
  for (const bench of ['signaling', 'streams', 'media', 'pages', 'calls', 'rooms']) {
    assert.match(refusalOf(bench, '--nosuch'), /--nosuch.*usage: npm run bench-/s);
  }
});

test('the gate of bench-signaling measures its own rows only', () => {
  for (const flag of ['--publish', '--herd', '--rows=join', '--before=HEAD', '--profile=/tmp']) {
    assert.match(refusalOf('signaling', '--gate', flag), /--gate measures its own rows/);
  }
});
