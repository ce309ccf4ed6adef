import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FAMILIES, RUST_FAMILIES } from '../scripts/families.ts';
import { rustFiles } from '../scripts/rust.ts';
import { fieldName, grouped, pascal, screaming, snake } from '../scripts/rust-names.ts';
import { codeNames } from '../src/codes.ts';
import { limitKey, limitNames } from '../src/limits.ts';
import { RELAY_CODES } from '../src/relay-codes.ts';

describe('names in Rust', () => {
  it('consist of the words of a name on the wire, in any spelling', () => {
    for (const name of ['resume-token', 'RESUME_TOKEN', 'resumeToken', 'resume.token'])
      assert.deepEqual(
        [pascal(name), snake(name), screaming(name)],
        ['ResumeToken', 'resume_token', 'RESUME_TOKEN'],
      );
    assert.deepEqual(['type', 'ref', 'iceTtlS'].map(fieldName), ['r#type', 'r#ref', 'ice_ttl_s']);
    assert.deepEqual([4096, 65_536, 1_048_576].map(grouped), ['4096', '65_536', '1_048_576']);
  });
});

describe('the generated Rust', () => {
  const files = rustFiles({ roomSubject: 'parley.v1.room.{room}', pages: 'parley.v1.pages' });
  const file = (name: string): string => files.get(`${name}.rs`) ?? '';

  it('has a variant for every message of its families, and one for newer types where a service sends them', () => {
    for (const name of RUST_FAMILIES) {
      const messages = Object.keys(FAMILIES[name].messages);
      const tagged = messages.filter((message) => file(name).includes(`#[serde(rename = "${message}")]`));
      assert.ok(tagged.length === messages.length || !file(name).includes('pub enum Message'), name);
      assert.equal(file(name).includes('Unknown,'), 'newer' in FAMILIES[name], name);
    }
  });

  it('has every code, limit and subject', () => {
    for (const code of codeNames()) assert.ok(file('codes').includes(`"${code}"`), code);
    for (const code of Object.keys(RELAY_CODES)) assert.ok(file('relay_codes').includes(`"${code}"`), code);
    for (const name of limitNames())
      assert.ok(file('limits').includes(`"${name}", "${limitKey(name)}"`), name);
    assert.match(file('subjects'), /pub fn room_subject\(room: &str\) -> String/);
    assert.match(file('subjects'), /pub const PAGES: &str = "parley\.v1\.pages";/);
  });

  it('names every file as a module, once', () => {
    const modules = [...file('mod').matchAll(/pub mod (\w+);/g)].map(([, name]) => `${name}.rs`);
    assert.deepEqual([...modules, 'mod.rs'].toSorted(), [...files.keys()].toSorted());
  });
});
