/** The agenda against the simple implementation: a list that is sorted before every use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agenda, type Appointment } from '../../src/core/agenda.ts';
import { seeded } from '../support/random.ts';

test('[GEN-4] the agenda runs due actions in order of time, then of scheduling, as a sorted list does', () => {
  for (let seed = 1; seed <= 200; seed += 1) compare(seed);
});

function compare(seed: number): void {
  const random = seeded(seed);
  const agenda = new Agenda();
  const list: { readonly at: number; readonly id: number; readonly appointment: Appointment }[] = [];
  const ran: number[] = [];
  const expected: number[] = [];
  let now = 0;
  for (let id = 1; id <= 120; id += 1) {
    const dice = random.between(1, 10);
    if (dice <= 6) {
      const at = now + random.between(0, 50);
      list.push({ at, id, appointment: agenda.schedule(at, () => ran.push(id)) });
    } else if (dice <= 8) {
      const [cancelled] = list.splice(random.between(0, Math.max(0, list.length - 1)), 1);
      cancelled?.appointment.cancel();
    } else {
      now += random.between(0, 40);
      list.sort((one, other) => one.at - other.at || one.id - other.id);
      while (list[0] !== undefined && list[0].at <= now) expected.push(list.shift()?.id ?? 0);
      agenda.runDue(now);
    }
    list.sort((one, other) => one.at - other.at || one.id - other.id);
    assert.equal(agenda.next(), list[0]?.at, `seed ${seed}, step ${id}`);
    assert.deepEqual(ran, expected, `seed ${seed}, step ${id}`);
  }
}

test('[GEN-4] an action scheduled while due ones run is kept, also for the same moment', () => {
  const agenda = new Agenda();
  const ran: string[] = [];
  agenda.schedule(5, () => {
    ran.push('first');
    agenda.schedule(5, () => ran.push('second'));
    agenda.schedule(6, () => ran.push('third'));
  });
  agenda.runDue(5);
  assert.deepEqual(ran, ['first', 'second']);
  assert.equal(agenda.next(), 6);
});
