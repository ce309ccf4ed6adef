import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, brotliCompressSync, gzipSync } from 'node:zlib';
import { createSite } from '../server/site.ts';

const PAGE = '<!doctype html><title>Parley</title>';
let site: Server;
let port: number;
let root: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'parley-site-'));
  await mkdir(join(root, 'assets'));
  const script = 'console.log("a script")';
  for (const [name, text] of [
    ['index.html', PAGE],
    ['assets/app-1234.js', script],
    ['robots.txt', 'User-agent: *'],
  ] as const) {
    await writeFile(join(root, name), text);
    await writeFile(join(root, `${name}.gz`), gzipSync(text));
    await writeFile(join(root, `${name}.br`), brotliCompressSync(text));
  }
  site = createSite({ root, frameAncestors: [], connect: [] });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  port = (site.address() as AddressInfo).port;
});
after(async () => {
  site.close();
  await rm(root, { recursive: true, force: true });
});

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the start page and rooms are the application, never cached without revalidation', async () => {
  for (const path of [
    '/',
    '/r/k7mq-2x9d-htw4-e0vn',
    '/r/book-club@eu',
    '/r/book-club%40eu',
    '/r/broken?x=1',
    '/p',
    `/p/${'a0'.repeat(32)}`,
  ]) {
    const got = await get(path);
    assert.equal(got.status, 200, path);
    assert.equal(got.body.toString(), PAGE);
    assert.equal(got.headers['cache-control'], 'no-cache');
  }
});

test('a connection without a request stays open for longer than the edge reuses it', async () => {
  const edge = await readFile(new URL('../../../charts/parley/files/envoy.yaml', import.meta.url), 'utf8');
  const reusedS = Number(/reused[\s\S]+?idle_timeout: (\d+)s/.exec(edge)?.[1]);
  const { headers } = await get('/healthz', { connection: 'keep-alive' });
  const keptS = Number(/timeout=(\d+)/.exec(String(headers['keep-alive']))?.[1]);
  assert.ok(reusedS > 0 && keptS > reusedS, `kept for ${keptS} s, reused for ${reusedS} s`);
});

test('any other address is 404: a page for a person, a line for a program', async () => {
  const person = await get('/stream', { accept: 'text/html,*/*' });
  assert.equal(person.status, 404);
  assert.equal(person.body.toString(), PAGE);
  for (const path of ['/assets/gone.js', '/v1/rooms', '/%E0%A4%A', '/../server.ts', '/%2e%2e/server.ts']) {
    const got = await get(path);
    assert.equal(got.status, 404, path);
    assert.match(String(got.headers['content-type']), /text\/plain/);
  }
});

test('hashed files are kept for a year and come compressed', async () => {
  const got = await get('/assets/app-1234.js', { 'accept-encoding': 'gzip, br' });
  assert.equal(got.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(got.headers['content-encoding'], 'br');
  assert.equal(brotliDecompressSync(got.body).toString(), 'console.log("a script")');
  assert.equal((await get('/robots.txt')).headers['cache-control'], 'no-cache');
});

test('every response carries the policy: no inline code, own origin, no frames', async () => {
  for (const path of ['/', '/assets/app-1234.js', '/nothing', '/healthz']) {
    const { headers } = await get(path, { host: 'parley.example:8443' });
    const policy = String(headers['content-security-policy']);
    assert.doesNotMatch(policy, /unsafe|\*/, path);
    assert.match(policy, /script-src 'self';/);
    assert.match(policy, /connect-src 'self' wss:\/\/parley\.example:8443 ws:\/\/parley\.example:8443;/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(
      String(headers['permissions-policy']),
      /camera=\(self\), microphone=\(self\), display-capture=\(self\)/,
    );
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  }
});

test('the frame of pages has a separate policy, and no other site can embed it', async () => {
  const policy = String((await get('/content-frame.html')).headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; /);
  assert.match(policy, /frame-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'$/);
  assert.doesNotMatch(policy, /script-src|https?:|\*/);
  const application = String((await get('/p')).headers['content-security-policy']);
  assert.match(application, /style-src 'self';.*frame-src 'self';/);
});

test('a forged Host header cannot add to the policy', async () => {
  const { headers } = await get('/', { host: "evil.example; script-src 'unsafe-inline'" });
  assert.doesNotMatch(String(headers['content-security-policy']), /evil|unsafe/);
});

test('it is healthy, and accepts only read methods', async () => {
  assert.equal((await get('/healthz')).body.toString(), 'ok\n');
  const post = await get('/', {}, 'POST');
  assert.equal(post.status, 405);
  assert.equal(post.headers.allow, 'GET, HEAD');
  assert.equal((await get('/', {}, 'HEAD')).body.length, 0);
});
