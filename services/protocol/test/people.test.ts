import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkName } from '../src/people.ts';

const MAX = 10;
const FAMILY = '\u{1F468}\u200d\u{1F469}\u200d\u{1F467}';

const shown = [
  ['a plain name', 'Ada', 'Ada'],
  ['white space around it', '  Ada  ', 'Ada'],
  ['white space inside', 'Ada \u00a0\u2003 L', 'Ada L'],
  ['a line separator, which is white space', 'Ada\u2028L', 'Ada L'],
  ['ten characters', 'abcdefghij', 'abcdefghij'],
  ['ten characters and spaces around them', ' abcdefghij ', 'abcdefghij'],
  ['ten characters outside the basic plane', '\u{1F600}'.repeat(10), '\u{1F600}'.repeat(10)],
  ['an emoji of several parts', FAMILY, FAMILY],
  ['an emoji with a presentation selector', '\u2764\ufe0f', '\u2764\ufe0f'],
  ['a flag made of tags', '\u{1F3F4}\u{E0067}\u{E007F}', '\u{1F3F4}\u{E0067}\u{E007F}'],
  ['Arabic', '\u0645\u0631\u064a\u0645', '\u0645\u0631\u064a\u0645'],
  ['Persian with a zero-width non-joiner', '\u0645\u06cc\u200c\u062e', '\u0645\u06cc\u200c\u062e'],
  ['a combining accent', 'Zoe\u0308', 'Zoe\u0308'],
  ['markup, which the page shows as text', '<b>Ada</b>'.slice(0, 10), '<b>Ada</b>'],
] as const;

const refused = [
  ['no character', ''],
  ['spaces only', '   '],
  ['eleven characters', 'abcdefghijk'],
  ['eleven characters outside the basic plane', '\u{1F600}'.repeat(11)],
  ['a null character', 'A\0da'],
  ['a tab', 'A\tda'],
  ['a newline', 'Ada\n'],
  ['a delete character', 'Ada\u007f'],
  ['a C1 control character', 'A\u0085da'],
  ['a right-to-left override', 'Ada\u202egpj'],
  ['a left-to-right embedding', '\u202aAda'],
  ['a pop of directional formatting', 'Ada\u202c'],
  ['a directional isolate', '\u2066Ada'],
  ['an unclosed first strong isolate', '\u2068Ada'],
  ['a left-to-right mark', 'Ada\u200e'],
  ['a right-to-left mark', 'Ada\u200f'],
  ['an Arabic letter mark', 'Ada\u061c'],
  ['a zero-width space', 'A\u200bda'],
  ['a word joiner', 'A\u2060da'],
  ['a byte order mark', '\ufeffAda'],
  ['half a surrogate pair', 'Ada\ud83d'],
  ['joiners only', '\u200d\u200d'],
  ['selectors only', '\ufe0f'],
  ['an accent over nothing', '\u0301'],
  ['a blank that counts as a letter', '\u3164'],
  ['a blank that counts as a symbol', '\u2800'],
  ['a soft hyphen only', '\u00ad'],
] as const;

describe('[JOIN-13] names', () => {
  for (const [what, name, wanted] of shown) {
    it(`with ${what} is shown`, () => assert.equal(checkName(name, MAX), wanted));
  }
  for (const [what, name] of refused) {
    it(`with ${what} is refused`, () => assert.equal(checkName(name, MAX), undefined));
  }

  it('a name that was accepted is accepted unchanged again', () => {
    for (const [, name] of shown) {
      const first = checkName(name, MAX);
      assert.ok(first !== undefined);
      assert.equal(checkName(first, MAX), first);
    }
  });
});
