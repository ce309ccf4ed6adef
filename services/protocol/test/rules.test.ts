/** The check of `npm run docs` that every rule is cited: `scripts/rules.ts`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { citedIn, rulesOf, uncited } from '../../../scripts/rules.ts';

const spec = {
  path: 'SPEC.md',
  text: [
    '- **ROS-1** A rule, as [ROS-3] has it.',
    '- **ROS-2** Another one,',
    '  that goes on: **ROS-4** is none.',
    '- **ROS-5** _Withdrawn_.',
    '- **STR-6** _(later)_ A rule all the same.',
  ].join('\n'),
};

describe('rules that no test cites', () => {
  it('rules are list items that begin with an id, except withdrawn ones', () => {
    assert.deepEqual(rulesOf(spec), ['ROS-1', 'ROS-2', 'STR-6']);
  });

  it('tests cite in titles, tests in Rust in their names, and fixtures as their rule', () => {
    const title = "test('[ROS-1] [ROS-2] a title', () => {}); // ROS-3 is no citation";
    assert.deepEqual(citedIn({ path: 'a/test/b.test.ts', text: title }), ['ROS-1', 'ROS-2']);
    const name =
      'async fn str_1_to_3_and_6_the_path_names() {}\nfn med_13_and_15_x() {}\nfn str_7_10_000_topics() {}';
    assert.deepEqual(citedIn({ path: 'a/src/b.rs', text: name }), [
      'STR-1',
      'STR-2',
      'STR-3',
      'STR-6',
      'MED-13',
      'MED-15',
      'STR-7',
    ]);
    const fixture =
      '{\n  "valid": {\n    "bye.plain": {\n      "rule": "ROS-1",\n      "message": {}\n    }\n  }\n}';
    assert.deepEqual(citedIn({ path: 'a/fixtures/bus.json', text: fixture }), ['ROS-1']);
  });

  it('other files cite no rules', () => {
    for (const path of ['a/src/b.ts', 'a/b.json', 'a/b.md'])
      assert.deepEqual(citedIn({ path, text: '[ROS-1] "rule": "ROS-1" fn str_1_x()' }), [], path);
    assert.deepEqual(citedIn({ path: 'a/src/b.rs', text: '//! Rule STR-6. [STR-6]' }), []);
  });

  it('the result has the ids of each page', () => {
    const files = [{ path: 'a.test.ts', text: "it('[ROS-2] x')" }];
    assert.deepEqual(uncited([spec, { path: 'other.md', text: '' }], files), ['SPEC.md: ROS-1, STR-6']);
  });
});
