import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notices } from '../src/call/notices.ts';

test('a long chat line is cut, and advice is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const notices = new Notices();
  const long = 'This needs more than a line. '.repeat(10);
  notices.show(long, 'chat');
  notices.show(long, 'trouble');
  const [chat, advice] = notices.shown.value;
  assert.equal(chat?.text, `${long.slice(0, 160)}…`);
  assert.equal(advice?.text, long);
  notices.close();
});
