import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { authorityOf, readConfig, type Config } from '../../src/server/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'parley-config-'));
const keys = join(directory, 'keys.json');
writeFileSync(keys, '{}');
after(() => rmSync(directory, { recursive: true }));

const listening = (listen?: string): Config =>
  readConfig({
    PARLEY_POD: 'pod-a',
    PARLEY_NATS_URL: 'nats://[2001:db8::4]:4222',
    PARLEY_KEYS_FILE: keys,
    PARLEY_LISTEN: listen,
  });

test('a pod listens on an address of either family, and one of IPv6 is in brackets', () => {
  for (const [listen, host, port, authority] of [
    [undefined, '0.0.0.0', 8101, '0.0.0.0:8101'],
    ['127.0.0.1:8101', '127.0.0.1', 8101, '127.0.0.1:8101'],
    ['[::]:8101', '::', 8101, '[::]:8101'],
    ['[2001:db8::7]:81', '2001:db8::7', 81, '[2001:db8::7]:81'],
    ['localhost:0', 'localhost', 0, 'localhost:0'],
  ] as const) {
    const config = listening(listen);
    assert.deepEqual([config.host, config.port, authorityOf(config)], [host, port, authority]);
  }
  for (const wrong of [
    ':::8101',
    '2001:db8::7:8101',
    '[::]',
    '[127.0.0.1]:8101',
    '[]:1',
    ':8101',
    '8101',
    'a:70000',
  ])
    assert.throws(() => listening(wrong), { message: /PARLEY_LISTEN must be host:port/ }, wrong);
});
