/** What an open socket keeps in memory. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { eventually } from '../support/deadline.ts';
import { randomRoom, startTestPod } from '../support/pod.ts';
import { RawClient } from '../support/raw.ts';

const SOCKETS = 8;

/** After a full collection. */
const requests = (): number => queryObjects(IncomingMessage, { format: 'count' });

test('[JOIN-5] an open socket does not keep the request of its upgrade in memory', async () => {
  const pod = await startTestPod({ limits: { 'socket.enterTimeout': 60_000 } });
  const before = requests();
  // The collection may have delayed the pod's own heartbeats.
  await eventually('the pod is ready', () => pod.pod.isReady);
  const clients = await Promise.all(
    Array.from({ length: SOCKETS }, () => RawClient.open(pod.url, randomRoom())),
  );
  try {
    assert.equal(pod.pod.socketCount, SOCKETS);
    // The parser of the latest request may still hold it.
    assert.ok(requests() - before <= 1, `${requests() - before} of ${SOCKETS} requests are kept`);
  } finally {
    for (const client of clients) client.destroy();
    await pod.close();
  }
});
