/** How a pod logs rooms: never by id, also where the text of an error contains one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { decode } from '@parley/protocol/decode';
import { ErrorAnswer } from '@parley/protocol/http';
import { createLog, roomMarks, warnings } from '../../src/server/log.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { Owner } from '../support/owner.ts';
import { keySet, memory, randomRoom, startTestPod, writeKeys } from '../support/pod.ts';

interface Logged {
  readonly pod: RunningPod;
  readonly lines: string[];
  readonly keys: unknown;
}

/** A pod that logs everything, and whose store fails for one room with an error that names it. */
async function loggedPod(context: TestContext): Promise<Logged> {
  const lines: string[] = [];
  const keys = keySet();
  const shared = memory();
  const store = {
    ...shared.store,
    read: (name: string) => {
      if (name.startsWith('broken')) throw new Error(`no key ${name}@local in the bucket`);
      return shared.store.read(name);
    },
  };
  const pod = await startTestPod({
    keys,
    memory: { ...shared, store },
    config: { logLevel: 'trace' },
    limits: { 'address.joins': 6 },
    onLog: (line) => lines.push(line),
  });
  context.after(() => pod.close());
  return { pod, lines, keys };
}

test('[LIM-18] warnings share a budget, and the next line says how many were suppressed (pod.badMessageLogLines)', () => {
  const lines: string[] = [];
  let now = 0;
  const warn = warnings(pino({}, { write: (line: string) => lines.push(line) }), 60, () => now);
  for (let i = 0; i < 1000; i += 1) warn({ subject: 'parley.v1.…' }, 'not understood');
  assert.equal(lines.length, 60);
  now = 1000;
  for (let i = 0; i < 10; i += 1) warn({ subject: 'parley.v1.…' }, 'not understood');
  assert.equal(lines.length, 61);
  assert.equal((JSON.parse(lines.at(-1) ?? '') as { suppressed: number }).suppressed, 940);
});

describe('[LOG-1] the log of a pod', () => {
  test('[LOG-1] holds no room id after joins, chats, changes, refusals and errors, and the mark of each room', async (context) => {
    const { pod, lines, keys } = await loggedPod(context);
    const adHoc = randomRoom();
    const owner = await Owner.of(pod.url, { name: 'standup', lobby: false });
    for (const room of [adHoc, owner.room]) {
      const ada = await Client.enter(pod.url, room, 'Ada');
      ada.sendMessage({ type: 'chat', id: 'line-no-1', text: `come to ${room}` });
      await ada.waitFor('chat-ack');
      ada.sendMessage({ type: 'dance' });
      await ada.waitFor('error');
      ada.drop();
      await ada.resume(pod.url);
      ada.sendResume('Ada', 'forged');
      ada.leave();
      await ada.waitForClose();
    }
    await owner.change(pod.url, { locked: true });
    await owner.ask(pod.url, 'DELETE', '');
    const broken = await join(pod.url, 'broken-room@local');
    assert.ok(!broken.ok && broken.error.code === 'INTERNAL');
    for (const path of [
      `/v1/rooms/${adHoc}/nothing`,
      `/v1/rooms/${adHoc}/%zz`,
      `/v1/rooms/${adHoc}${'x'.repeat(200)}`,
    ]) {
      const answer = await fetch(`${pod.url}${path}`);
      assert.ok(decode(ErrorAnswer, await answer.json()).ok);
    }
    while ((await join(pod.url, adHoc)).ok);
    const log = lines.join('');
    assert.match(log, /"msg":"request failed"/);
    assert.match(log, /"msg":"ticket issued"/);
    for (const room of [adHoc, owner.room, 'broken-room@local']) {
      assert.ok(!log.includes(room), room);
      assert.ok(log.includes(roomMarks(keys)(room)), `the mark of ${room}`);
    }
    assert.ok(!log.includes('broken-room'));
  });

  test('[LOG-1] marks a room alike with one key set, and otherwise with another', () => {
    const keys = keySet();
    const room = randomRoom();
    assert.equal(roomMarks(keys)(room), roomMarks(structuredClone(keys))(room));
    assert.notEqual(roomMarks(keys)(room), roomMarks(keySet())(room));
    assert.notEqual(roomMarks(keys)(room), roomMarks(keys)(randomRoom()));
    assert.match(roomMarks(keys)(room), /^r_[\w-]{12}$/);
  });

  test('[LOG-1] holds no room id after an escape, percent-encoded, in upper case or serialised twice', () => {
    const lines: string[] = [];
    const keys = keySet();
    const config = { keySet: keys, logLevel: 'info', pod: 'pod-a', region: 'eu' } as const;
    const log = createLog(config, { write: (line) => lines.push(line) });
    for (const room of [randomRoom(), 'standup@eu', 'team-7@eu']) {
      const texts = [
        ...['\n', '\t', '\r', '\b', '\f', '"', '\u0001', '/', '%2F', '%3a', ' '].map(
          (before) => before + room,
        ),
        `${room}\n${room}\t`,
        JSON.stringify({ error: `no such room:\n${room}` }),
        encodeURIComponent(room),
        room.replaceAll('-', '%2d'),
        room.replace(/^./, (first) => `%${first.codePointAt(0)?.toString(16)}`),
        room.toUpperCase(),
      ];
      for (const text of texts) {
        lines.length = 0;
        log.info({ error: text }, 'x');
        const { error } = JSON.parse(lines[0] ?? '') as { error: string };
        const shown = decodeURIComponent(error).toLowerCase();
        for (const part of room.split(/[-@]/).filter(({ length }) => length > 3))
          assert.ok(!shown.includes(part), JSON.stringify(text));
        assert.ok(error.includes(roomMarks(keys)(room)), JSON.stringify(text));
      }
    }
  });

  test('[LOG-1] leaves what only looks like a room: request ids, participants, pods', () => {
    const lines: string[] = [];
    const config = {
      keySet: keySet(),
      logLevel: 'info',
      pod: 'signaling-7c9d8f6b5-x2k4q',
      region: 'eu',
    } as const;
    const log = createLog(config, { write: (line) => lines.push(line) });
    log.info(
      { trace: '550e8400-e29b-41d4-a716-446655440000', participant: 'p0123456789abcdef' },
      'participant entered',
    );
    log.info({ error: 'line 1\n\tat C:\\new\\"x" 100%25 50%' }, 'failed');
    assert.equal(JSON.parse(lines[1] ?? '').error, 'line 1\n\tat C:\\new\\"x" 100%25 50%');
    for (const kept of [
      '550e8400-e29b-41d4-a716-446655440000',
      'p0123456789abcdef',
      'signaling-7c9d8f6b5-x2k4q',
    ])
      assert.ok(lines[0]?.includes(kept), kept);
    assert.ok(pino.levels.values['info'] === JSON.parse(lines[0] ?? '').level);
  });

  test('[LOG-1] log-room prints the mark of a room', (context) => {
    const keys = writeKeys();
    context.after(() => keys.remove());
    const set = keySet();
    writeFileSync(keys.file, JSON.stringify(set));
    const room = randomRoom();
    const command = new URL('../../src/log-room.ts', import.meta.url).pathname;
    const { stdout } = spawnSync(process.execPath, [command], {
      input: `${room}\nnot a room\n`,
      env: { PARLEY_KEYS_FILE: keys.file },
      encoding: 'utf8',
    });
    assert.deepEqual(stdout.trim().split('\n'), [
      roomMarks(set)(room),
      'not a room id: a line of 10 characters',
    ]);
  });

  test('lines are gathered, and none is lost where the process ends by itself, by exit or by an error', () => {
    const program = (end: string): string => `
      import { createLog } from ${JSON.stringify(new URL('../../src/server/log.ts', import.meta.url).href)};
      const log = createLog({ keySet: {}, logLevel: 'info', pod: 'a', region: 'b' });
      for (let line = 0; line < 500; line += 1) log.info({ line }, 'one of many');
      ${end}`;
    for (const end of ['', 'process.exit(1)', 'setTimeout(() => { throw new Error("unexpected") })']) {
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program(end)], {
        encoding: 'utf8',
      });
      const lines = stdout.trim().split('\n');
      // What is written at the end may overtake what is being written then.
      const numbers = lines.map((line) => (JSON.parse(line) as { line: number }).line);
      assert.deepEqual(
        numbers.toSorted((one, other) => one - other),
        Array.from({ length: 500 }, (_, at) => at),
        end,
      );
    }
  });
});
