/** The references really relay, and the generator really notices: one short call through each, and one through a server that lies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { WebSocketServer, type WebSocket } from 'ws';
import { runJob } from '../src/generator/run.ts';
import type { Job } from '../src/job.ts';
import { startReference } from '../src/servers.ts';
import { judge } from '../src/verdict.ts';

const dir = mkdtempSync(join(tmpdir(), 'parley-loadtest-'));
after(() => rmSync(dir, { recursive: true }));

const short = { watched: [], warmMs: 0, measureMs: 200 } as const;
const loads = [
  { kind: 'mesh', calls: 2, callsPerSecond: 250, tickets: 'asked' },
  { kind: 'pairs', pairs: 2, window: 4 },
] as const;

for (const name of ['naive', 'opaque', 'equal'] as const) {
  test(
    `the reference "${name}" delivers every message of calls and of pairs`,
    { timeout: 60_000 },
    async () => {
      const server = await startReference(name, { dir });
      try {
        for (const load of loads) {
          // A busy machine may complete nothing in the first run.
          for (let done = 0; done === 0;) {
            const outcome = await runJob({
              ...short,
              ...load,
              dialect: server.dialect,
              targets: server.targets,
            });
            assert.deepEqual(outcome.failures, []);
            assert.equal(outcome.received, outcome.sent);
            done = outcome.done;
          }
        }
      } finally {
        await server.close();
      }
    },
  );
}

test('a server that changes one letter of a payload is found out', async () => {
  const rooms = new Map<string, WebSocket>();
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    let me = '';
    socket.on('message', (data) => {
      const text = (data as Buffer).toString();
      const message = JSON.parse(text) as { type: string; peer: string; to: string };
      if (message.type === 'join') {
        me = message.peer;
        socket.send(JSON.stringify({ type: 'joined', peers: [...rooms.keys()] }));
        rooms.set(me, socket);
      } else {
        const lie = text.replace(`"to":"${message.to}"`, `"from":"${me}"`).replace('"pad":"a', '"pad":"b');
        rooms.get(message.to)?.send(lie);
      }
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const job: Job = {
    ...short,
    dialect: 'min',
    kind: 'pairs',
    pairs: 1,
    window: 1,
    targets: [{ host: '127.0.0.1', port }],
  };
  try {
    const outcome = await runJob(job);
    assert.equal(judge(outcome).verdict, 'failed');
    assert.match(outcome.failures[0] ?? '', /is not what was sent/);
  } finally {
    for (const client of server.clients) client.terminate();
    server.close();
    await once(server, 'close');
  }
});
