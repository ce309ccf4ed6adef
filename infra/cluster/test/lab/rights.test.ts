import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { MAX_STALL_MS } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import { roomSubject } from '@parley/protocol/subjects';
import { kubectl } from '../../src/kubectl.ts';
import { forwardPort } from '../../src/port-forward.ts';
import { installRelease, namespace, podsOf, readSecret, type Pod } from '../../src/release.ts';
import { lab } from './entry.ts';

/** NATS answers at once; the stalls of the machine included. */
const withinMs = 1000 + MAX_STALL_MS;

const COMPONENTS = ['edge', 'nats', 'relay', 'signaling', 'turn', 'web'];

describe('what a pod may do', { timeout: 900_000 }, () => {
  let pods: Pod[] = [];

  before(async () => {
    await installRelease(lab);
    pods = await podsOf(lab);
  });

  it('every process has an ordinary user and can gain no rights', async () => {
    const components = pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'] ?? '');
    assert.deepEqual([...new Set(components)].toSorted(), COMPONENTS);
    for (const pod of pods) {
      const status = await inside(pod, 'cat /proc/1/status');
      const line = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
      assert.match(line('Uid'), /^10001\s+10001\s+10001\s+10001$/, pod.metadata.name);
      assert.match(line('Gid'), /^10001\s/, pod.metadata.name);
      assert.match(line('CapEff'), /^0+$/, pod.metadata.name);
      assert.match(line('CapBnd'), /^0+$/, pod.metadata.name);
      assert.equal(line('NoNewPrivs'), '1', pod.metadata.name);
      assert.equal(line('Seccomp'), '2', pod.metadata.name);
    }
  });

  it('the file system of the image is read-only', async () => {
    for (const pod of pods) {
      const options = await inside(pod, "grep ' / ' /proc/self/mounts | cut -d ' ' -f 4");
      assert.match(options, /^ro,/, pod.metadata.name);
      await assert.rejects(inside(pod, 'echo >/written'), /Read-only file system/, pod.metadata.name);
    }
  });

  it('no pod holds a token of the Kubernetes API', async () => {
    for (const pod of pods) {
      const found = await inside(pod, 'ls /var/run/secrets/kubernetes.io 2>&1 || true');
      assert.match(found, /No such file/, pod.metadata.name);
    }
  });

  it("the NATS user of a relay cannot publish the roster of a room, and signaling's can", async (t) => {
    const [server] = await podsOf(lab, 'nats');
    assert.ok(server);
    const forward = await forwardPort(lab, server, 4222);
    t.after(() => forward.close());
    const ca = await readSecret(lab, 'parley-nats-tls', 'ca.crt');
    const as = async (user: string): Promise<NatsConnection> => {
      const pass = await readSecret(lab, 'parley-nats', user);
      const connection = await connect({
        servers: forward.address,
        user,
        pass,
        tls: { ca, handshakeFirst: true },
      });
      t.after(() => connection.close());
      return connection;
    };
    const [signaling, relay] = [await as('signaling'), await as('parley-relay-0')];
    const subject = roomSubject(newRoom());
    const received: string[] = [];
    signaling.subscribe(subject, { callback: (_, message) => void received.push(message.string()) });
    await signaling.flush();
    const errors: string[] = [];
    void (async () => {
      for await (const status of relay.status()) {
        if (status.type === 'error') errors.push(String(status.error));
      }
    })();

    relay.publish(subject, 'a roster of a relay');
    await until(() => errors.length > 0, { withinMs, what: () => 'NATS to refuse the message of the relay' });
    signaling.publish(subject, 'a roster of signaling');
    await until(() => received.length > 0, { withinMs, what: () => 'the message of signaling to arrive' });

    assert.match(errors.join(), /Permissions Violation for Publish/i);
    assert.deepEqual(received, ['a roster of signaling']);
  });
});

function inside(pod: Pod, script: string): Promise<string> {
  return kubectl(lab, '-n', namespace, 'exec', pod.metadata.name, '--', 'sh', '-c', script);
}
