import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleStart } from '../../src/sfu/audio-schedule.ts';
import { seeded } from '../fakes/random.ts';

const loud = { quiet: false };
const near = (found: number | null, expected: number): void =>
  assert.ok(found !== null && Math.abs(found - expected) < 1e-9, `${found}, not ${expected}`);

test('audio in time begins at its time, and closes a very small gap', () => {
  near(scheduleStart({ ...loud, wanted: 10.2, now: 10, until: 0 }), 10.2);
  near(scheduleStart({ ...loud, wanted: 10.2, now: 10, until: 10.15 }), 10.15);
  near(scheduleStart({ ...loud, wanted: 10.2, now: 10, until: 10.1 }), 10.2);
});

test('late audio begins immediately, after the audio that is playing', () => {
  near(scheduleStart({ ...loud, wanted: 9.8, now: 10, until: 9.9 }), 10);
  near(scheduleStart({ ...loud, wanted: 9.84, now: 10, until: 10.04 }), 10.04);
});

test('audio more than half a second late is left out, and quiet audio as soon as there is a backlog', () => {
  assert.equal(scheduleStart({ ...loud, wanted: 9.4, now: 10, until: 0 }), null);
  assert.equal(scheduleStart({ ...loud, wanted: 9.6, now: 10, until: 10.2 }), null);
  near(scheduleStart({ quiet: true, wanted: 10, now: 9.9, until: 10.03 }), 10.03);
  assert.equal(scheduleStart({ quiet: true, wanted: 10, now: 9.9, until: 10.05 }), null);
});

test('for any input, no audio overlaps other audio, and none begins in the past', () => {
  const random = seeded(11);
  let until = 0;
  let now = 0;
  let played = 0;
  for (let nth = 0; nth < 5000; nth += 1) {
    const wanted = 0.1 + nth * 0.04;
    now = Math.max(now, wanted - 0.1 + random.fraction() ** 4 * 1.2);
    const begins = scheduleStart({ wanted, now, until, quiet: random.fraction() < 0.3 });
    if (begins === null) continue;
    assert.ok(begins >= now && begins >= Math.min(until, begins), `${begins} at ${now}, until ${until}`);
    assert.ok(begins >= until || until < now, `${begins} while another plays until ${until}`);
    assert.ok(begins - wanted <= 0.5 + 1e-9);
    until = begins + 0.04;
    played += 1;
  }
  assert.ok(played > 1000, `${played} of 5000`);
});
