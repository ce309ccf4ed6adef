import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { manifestOf } from '../k8s/manifest.ts';

const GOLDEN = new URL('../k8s/golden.json', import.meta.url);
const herd = {
  profile: 'reconnect',
  site: 'http://parley-edge',
  parallelism: 2,
  k6Version: '1.8.1',
  archive: Buffer.from('the script'),
};

test('the manifest is the golden one: a TestRun of two runners, and a ConfigMap with the script that it names', () => {
  assert.deepEqual(manifestOf(herd), JSON.parse(readFileSync(GOLDEN, 'utf8')));
});

test('a script that no ConfigMap takes is refused', () => {
  assert.throws(
    () => manifestOf({ ...herd, archive: new Uint8Array(1_048_577) }),
    /1048577 bytes.*takes 1048576/,
  );
});

test('a share of the people, and where the figures go, are in the environment of the runners', () => {
  const text = JSON.stringify(manifestOf({ ...herd, scale: '0.1', summary: 'stdout' }));
  assert.ok(text.includes('{"name":"HERD_SCALE","value":"0.1"},{"name":"HERD_SUMMARY","value":"stdout"}'));
});

test('a profile that counts its joins is for one runner', () => {
  assert.throws(() => manifestOf({ ...herd, profile: 'smoke' }), /several k6 cannot share "smoke"/);
  assert.doesNotThrow(() => manifestOf({ ...herd, profile: 'smoke', parallelism: 1 }));
});
