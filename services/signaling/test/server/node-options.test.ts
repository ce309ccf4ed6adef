/** The image and `make up` start a pod alike. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NODE_OPTIONS } from '../../src/node-options.ts';

test('the image gives Node.js the options that pods are measured with', () => {
  const file = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  const entrypoint = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(file)?.[1] ?? '') as unknown;
  assert.deepEqual(entrypoint, ['node', ...NODE_OPTIONS, 'services/signaling/src/main.ts']);
});
