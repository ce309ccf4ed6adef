import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citesRule, inVain, testsIn, uncited } from './rules.ts';
import { inCrates, runByNode } from './test-files.ts';

/** Split, so that this file itself cites nothing. */
const cited = (id: string): string => `'[${id}] a'`;
const specification = {
  path: 'SPEC.md',
  text: '- **ROOM-1** A.\n- **STR-2** B.\n- **STR-3** _Withdrawn_.\n',
};
const typescript = (text: string) => ({ path: 'test/a.test.ts', text });
const rust = (text: string) => ({ path: 'src/lib.rs', text });
const covered = new Set(['test/a.test.ts', 'src/lib.rs']);

test('a rule is cited by the title of a test, the name of a function or a fixture', () => {
  const files = [
    typescript(`test(${cited('ROOM-1')}, () => {});`),
    rust('#[test]\nfn str_1_to_3_and_7_a() {}\n'),
    { path: 'a/fixtures/b.json', text: '{ "rule": "DIR-1" }' },
  ];
  assert.deepEqual(
    files.map((file) => testsIn(file).flatMap(({ rules }) => rules)),
    [['ROOM-1'], ['STR-1', 'STR-2', 'STR-3', 'STR-7'], ['DIR-1']],
  );
  assert.deepEqual(uncited([specification], files), []);
  assert.deepEqual(uncited([specification], [typescript(`// ${cited('ROOM-1')}`)]), [
    'SPEC.md: ROOM-1, STR-2',
  ]);
});

test('a rule that is cited by a test which never runs is not cited', () => {
  for (const text of [
    `test.skip(${cited('ROOM-1')}, () => {});`,
    `describe.todo(${cited('ROOM-1')}, () => {});`,
    `test(${cited('ROOM-1')}, { skip: 'slow' }, () => {});`,
    `test(${cited('ROOM-1')}, { todo: true }, () => {});`,
    `test(${cited('ROOM-1')}, () => {}); test.only('b', () => {});`,
  ])
    assert.equal(inVain([typescript(text)], covered).length, 1, text);
  const conditional = typescript(
    `test(${cited('ROOM-1')}, { skip: isRoot ? false : 'needs root' }, () => {});`,
  );
  assert.deepEqual(inVain([conditional], covered), []);
  for (const text of ['fn str_2_a() {}\n', '#[test]\n#[ignore = "slow"]\nfn str_2_a() {}\n']) {
    assert.deepEqual(inVain([rust(text)], covered), ['src/lib.rs: str_2_a is ignored, or no test']);
    assert.deepEqual(testsIn(rust(text)), []);
  }
  const run = '#[tokio::test(flavor = "multi_thread")]\n// A reason.\nasync fn str_2_a() {}\n';
  assert.deepEqual(inVain([rust(run)], covered), []);
});

test('a rule that is cited in a file which no command runs is not cited', () => {
  const files = [typescript(`test(${cited('ROOM-1')}, () => {});`), rust('#[test]\nfn str_2_a() {}\n')];
  assert.deepEqual(inVain(files, new Set()), [
    'test/a.test.ts: no command runs it',
    'src/lib.rs: no command runs it',
  ]);
});

test('the files of a crate are its roots and what they name', () => {
  const sources = {
    'a/src/lib.rs': 'pub mod one;\n#[cfg(test)]\n#[path = "two_tests.rs"]\nmod tests;\n',
    'a/src/one.rs': 'mod inner;\n',
    'a/src/one/inner.rs': '',
    'a/src/two_tests.rs': '',
    'a/src/forgotten.rs': '',
    'a/tests/suite/main.rs': 'mod part;\n',
    'a/tests/suite/part.rs': '',
    'a/tests/suite/forgotten.rs': '',
  };
  const all = Object.entries(sources).map(([path, text]) => ({ path, text }));
  assert.deepEqual(
    Object.keys(sources).filter((path) => !inCrates(all).has(path)),
    ['a/src/forgotten.rs', 'a/tests/suite/forgotten.rs'],
  );
});

test('the files that node runs are those of the scripts of a package', () => {
  const found = runByNode(['package.json', 'services/turn/package.json', 'infra/regions/package.json']);
  assert.ok(found.has('scripts/rules.test.ts') && found.has('services/turn/test/render.test.ts'));
  assert.ok(found.has('infra/regions/test/more/partition-long.test.ts'), 'by the default of a variable');
  assert.ok(!found.has('services/signaling/test/core/roster.test.ts'));
});

test('a title of a failed test cites a rule', () => {
  assert.ok(citesRule(`${cited('LIM-1')} > one`, 'LIM-1'));
  assert.ok(citesRule('ws::frame::tests::str_14_and_25_an_invalid_header', 'STR-25'));
  assert.ok(!citesRule('str_140_a_limit', 'STR-14') && !citesRule(cited('LIM-10'), 'LIM-1'));
});
