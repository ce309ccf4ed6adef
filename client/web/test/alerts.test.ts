import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Alerts } from '../src/call/alerts.ts';
import { alertOn, setAlertOn, type AlertKind } from '../src/memory/alerts.ts';

function recorded() {
  const state = { nowMs: 0, hidden: false, sounds: 0, shown: [] as string[] };
  const alerts = new Alerts({
    play: () => (state.sounds += 1),
    notify: (kind, text) => state.shown.push(`${kind}: ${text}`),
    hidden: () => state.hidden,
    now: () => state.nowMs,
  });
  return { state, alerts };
}

beforeEach(() => {
  const values = new Map<string, string>();
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
    removeItem: (key: string) => values.delete(key),
  };
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
});

test('sounds are on and notifications off until the user changes it, each kind for itself', () => {
  const { state, alerts } = recorded();
  state.hidden = true;
  alerts.announce('knock', 'Bo wants to come in', 2);
  assert.deepEqual([state.sounds, state.shown], [1, []]);
  setAlertOn('knock', 'sound', false);
  setAlertOn('knock', 'notification', true);
  state.nowMs = 10_000;
  alerts.announce('knock', 'Cy wants to come in', 2);
  alerts.announce('chat', 'Cy: hello', 2);
  assert.deepEqual([state.sounds, state.shown], [2, ['knock: Cy wants to come in']]);
  assert.deepEqual([alertOn('knock', 'sound'), alertOn('join', 'sound')], [false, true]);
});

test('a notification is shown only while the user looks elsewhere', () => {
  const { state, alerts } = recorded();
  setAlertOn('chat', 'notification', true);
  alerts.announce('chat', 'Bo: hello', 2);
  assert.deepEqual(state.shown, []);
  state.hidden = true;
  alerts.announce('chat', 'Bo: are you there?', 2);
  assert.deepEqual(state.shown, ['chat: Bo: are you there?']);
});

test('events of one kind that follow each other make one sound', () => {
  const { state, alerts } = recorded();
  const heard = (kind: AlertKind, atMs: number): number => {
    state.nowMs = atMs;
    alerts.announce(kind, '', 3);
    return state.sounds;
  };
  assert.deepEqual(
    [heard('chat', 0), heard('chat', 1499), heard('join', 1499), heard('chat', 1500)],
    [1, 1, 2, 3],
  );
});

test('arrivals in a room of more than ten people make no sound', () => {
  const { state, alerts } = recorded();
  alerts.announce('join', 'Kim joined', 11);
  assert.equal(state.sounds, 0);
  alerts.announce('join', 'Kim joined', 10);
  assert.equal(state.sounds, 1);
});
