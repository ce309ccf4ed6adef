import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createServer } from 'node:tls';
import { startStack, type Stack } from '../../src/stack.ts';
import { Terminal } from '../../src/terminal.ts';
import { scratchDir } from '../scratch.ts';

// The report of `parley doctor` about an intact stack and about one with a broken part.

let stack: Stack;
let dir: string;
const cleanups: (() => unknown)[] = [];

before(async () => {
  dir = scratchDir({ after: (work) => cleanups.push(work) });
  stack = await startStack({ dir });
  cleanups.push(() => stack.stop());
  await relaysAreOffered();
});

after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

interface Ends {
  after(work: () => unknown): void;
}

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly said: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly advice?: string;
}

/** The exit code of a doctor that found a failure. */
const FOUND_FAILURE = 7;
/** The longest check on one machine. */
const CHECK_WITHIN_MS = 5000;
const all = ['dns', 'tls', 'clock', 'health', 'join', 'turn', 'turn', 'turn', 'stream', 'media', 'media'];

/** Runs it to its end. The stack's certificate is self-signed, that of `turns:` too. */
async function runDoctor(t: Ends, ...args: string[]): Promise<Report & { exit: number | null }> {
  const doctor = terminal(t, ...args, '--json');
  const report = JSON.parse(await doctor.line('stdout')) as Report;
  return { ...report, exit: await doctor.ends() };
}

function terminal(t: Ends, ...args: string[]): Terminal {
  const started = Terminal.start(['doctor', ...args]);
  t.after(() => started.child.kill('SIGKILL'));
  return started;
}

/** These checks fail, each with advice, and every other check passes. */
function assertOnlyFailing(
  { findings, ok, exit }: Awaited<ReturnType<typeof runDoctor>>,
  ...checks: string[]
): void {
  const notOk = findings.filter(({ verdict }) => verdict !== 'ok');
  const shown = JSON.stringify(notOk, null, 1);
  assert.deepEqual([...new Set(notOk.map(({ check }) => check))], checks, shown);
  for (const { verdict, advice } of notOk) assert.ok(verdict === 'fail' && advice !== undefined, shown);
  assert.deepEqual([ok, exit], checks.length === 0 ? [true, 0] : [false, FOUND_FAILURE]);
}

test('an intact stack passes every check, and keeps no participant and no allocation of it', async (t) => {
  const report = await runDoctor(t, stack.endpoints.web, '--insecure');
  assertOnlyFailing(report);
  assert.deepEqual(
    report.findings.map(({ check }) => check),
    all,
  );
  for (const { check, figures, said } of report.findings)
    assert.ok(check === 'clock' || (figures['ms'] ?? Infinity) < CHECK_WITHIN_MS, said);
  await allAllocationsEnded();
  await allParticipantsLeft();
});

test('the lines have the content of the JSON, with advice below each failure', async (t) => {
  const doctor = terminal(t, stack.endpoints.webTls, '--only', 'health,turn,tls');
  assert.match(await doctor.line('stdout'), /^fail {2}tls {5}browsers do not believe it/);
  assert.match(await doctor.line('stdout'), /^ {14}\S.*edge\.tls/);
  assert.match(await doctor.line('stdout'), /^fail {2}health {2}/);
  assert.equal(await doctor.ends(), FOUND_FAILURE);
});

test('without TURN every other check passes', async (t) => {
  stack.kill('coturn', 'SIGKILL');
  const report = await runDoctor(t, stack.endpoints.web, '--insecure');
  assertOnlyFailing(report, 'turn');
  const advice = report.findings
    .filter(({ check }) => check === 'turn')
    .map((finding) => finding.advice ?? '');
  assert.equal(advice.length, 3);
  assert.match(advice[0] ?? '', /Let UDP \d+ in to the TURN nodes/);
  await stack.restart('coturn');
});

test('without relays streams and media fail, and every other check passes', async (t) => {
  for (const relay of ['relay-1', 'relay-2']) stack.kill(relay, 'SIGKILL');
  assertOnlyFailing(await runDoctor(t, stack.endpoints.web, '--insecure'), 'stream', 'media');
  for (const relay of ['relay-1', 'relay-2']) await stack.restart(relay);
  await relaysAreOffered();
  assertOnlyFailing(await runDoctor(t, stack.endpoints.web, '--insecure', '--only', 'stream,media'));
});

test('with UDP to relays blocked only media over QUIC fails; an interrupted doctor leaves the room', async (t) => {
  const away = stack.endpoints.media.flatMap((relay) => {
    const { hostname, port } = new URL(relay);
    return ['--connect-to', `${hostname}:${port}:127.0.0.1:9`];
  });
  const asked = [stack.endpoints.web, '--only', 'media', ...away];
  const { findings, exit } = await runDoctor(t, ...asked);
  assert.deepEqual(
    findings.map(({ verdict }) => verdict),
    ['fail', 'ok'],
  );
  assert.match(findings[0]?.advice ?? '', /^Let UDP to .+ in to the relay/);
  assert.equal(exit, FOUND_FAILURE);

  const interrupted = terminal(t, ...asked);
  while ((await count('participants')) < 2) await delay(50);
  assert.equal(await interrupted.interrupt(), 1);
  await allParticipantsLeft();
});

test('without pods no join succeeds, and streams work', async (t) => {
  for (const pod of ['signaling-1', 'signaling-2']) stack.kill(pod, 'SIGKILL');
  const report = await runDoctor(t, stack.endpoints.web, '--only', 'health,join,stream');
  assertOnlyFailing(report, 'join');
  for (const pod of ['signaling-1', 'signaling-2']) await stack.restart(pod);
});

test('without a listener every check fails, soon', async (t) => {
  const began = Date.now();
  const report = await runDoctor(t, 'http://127.0.0.1:9', '--skip', 'dns');
  assertOnlyFailing(report, ...new Set(all.slice(1)));
  assert.ok(Date.now() - began < CHECK_WITHIN_MS);
  assertOnlyFailing(await runDoctor(t, 'https://nobody.invalid', '--only', 'dns'), 'dns');
});

test('an invalid address of a host, or an unknown check, is refused', async (t) => {
  for (const wrong of [
    ['ws://localhost'],
    ['localhost'],
    ['http://localhost', '--only', 'pulse'],
    ['http://localhost', '--connect-to', 'x'],
  ])
    assert.equal(await terminal(t, ...wrong).ends(), 2);
});

test('a certificate is judged as a browser judges it', async (t) => {
  const host = 'call.parley.test';
  const good = certify(host, 2);
  const at = await serve(t, good);
  const detour = ['--connect-to', `${host}:${at.port}:127.0.0.1:${at.port}`];
  // coturn has a certificate of its own: none of this CA's.
  const report = await runDoctor(
    t,
    `https://${host}:${at.port}`,
    ...detour,
    '--ca',
    good.ca,
    '--skip',
    'turn,tls',
  );
  assertOnlyFailing(report);
  assert.ok(report.findings.some(({ said }) => said.includes('WebSocket')));

  const tls = async (name: string, port: number, ...args: string[]) => {
    const detours = ['--connect-to', `${name}:${port}:127.0.0.1:${port}`];
    const { findings } = await runDoctor(t, `https://${name}:${port}`, ...detours, '--only', 'tls', ...args);
    const [{ verdict, said, figures } = assert.fail()] = findings;
    return { verdict, said, daysLeft: figures['daysLeft'] };
  };
  // Two days are too few, and no reason to refuse it.
  const soon = await tls(host, at.port, '--ca', good.ca);
  assert.deepEqual([soon.verdict, soon.daysLeft], ['warn', 2]);
  assert.match(
    (await tls('other.parley.test', at.port, '--ca', good.ca)).said,
    /not for other\.parley\.test/,
  );
  assert.match((await tls(host, at.port)).said, /no known CA signed it/);
  assert.equal((await tls(host, at.port, '--insecure')).verdict, 'warn');

  const long = certify(host, 90);
  const lasting = await tls(host, (await serve(t, long)).port, '--ca', long.ca);
  assert.deepEqual([lasting.verdict, lasting.daysLeft], ['ok', 90]);
  const old = certify(host, -1);
  assert.match((await tls(host, (await serve(t, old)).port, '--ca', old.ca)).said, /it expired/);
});

test('--wait waits until the edge answers', async (t) => {
  stack.kill('envoy', 'SIGKILL');
  const waits = runDoctor(t, stack.endpoints.web, '--only', 'health', '--wait', '60');
  await stack.restart('envoy');
  assertOnlyFailing(await waits);
});

/** The highest count of all pods. */
async function count(what: 'participants' | 'rooms'): Promise<number> {
  const pages = stack.endpoints.pods.map(async (pod) => (await fetch(`${pod}/metrics`)).text());
  const counts = (await Promise.all(pages)).map(
    (page) => new RegExp(`^parley_${what} (\\d+)$`, 'm').exec(page)?.[1],
  );
  return Math.max(...counts.map(Number));
}

/** Rooms keep a participant without a socket for the grace period of 30 s, and one that leaves for a moment. */
async function allParticipantsLeft(): Promise<void> {
  const until = Date.now() + 15_000;
  while ((await count('rooms')) > 0) {
    assert.ok(Date.now() < until, 'a participant did not leave, and is away');
    await delay(100);
  }
}

/** The doctor releases its allocation instead of letting it lapse after ten minutes; coturn closes the port a moment later. */
async function allAllocationsEnded(): Promise<void> {
  const until = Date.now() + 5000;
  while (turnSockets().length > 0) {
    assert.ok(Date.now() < until, `ports are left: ${turnSockets().join()}`);
    await delay(100);
  }
}

/** A pod knows a relay once it has received its lease. */
async function relaysAreOffered(): Promise<void> {
  const isOffered = async (pod: string): Promise<boolean> => {
    const body = JSON.stringify({ publish: false });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${pod}/v1/live/doctor`, { method: 'POST', headers, body })).ok;
  };
  for (const pod of stack.endpoints.pods) while (!(await isOffered(pod))) await delay(50);
}

/** coturn's sockets for allocations, as the kernel lists them (proc(5)): those that are not its listening port. */
function turnSockets(): string[] {
  const [, ip = '', port = ''] = /^turn:([\d.]+):(\d+)/.exec(stack.endpoints.turn.urls[0] ?? '') ?? [];
  const hex = ip.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0').toUpperCase());
  const listening = Number(port).toString(16).padStart(4, '0').toUpperCase();
  const sockets = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/)[1] ?? '');
  return sockets.filter(
    (local) => local.startsWith(hex.toReversed().join('')) && !local.endsWith(`:${listening}`),
  );
}

interface Certificate {
  readonly ca: string;
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** A certificate for a name, and the CA that signed it. */
function certify(name: string, days: number): Certificate {
  const file = (what: string) => join(dir, `${name}${days}.${what}`);
  const openssl = (args: string, ...more: string[]) =>
    execFileSync('openssl', [...args.split(' '), ...more], { stdio: 'ignore' });
  const curve = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
  openssl(`req -x509 ${curve} -days 2 -subj /CN=nobody -keyout ${file('ca.key')} -out ${file('ca.pem')}`);
  openssl(
    `req ${curve} -subj /CN=${name} -addext subjectAltName=DNS:${name} -keyout ${file('key')} -out ${file('csr')}`,
  );
  const signed = `-CA ${file('ca.pem')} -CAkey ${file('ca.key')} -copy_extensions copy -days ${days}`;
  openssl(`x509 -req -in ${file('csr')} ${signed} -out ${file('pem')}`);
  return { ca: file('ca.pem'), key: readFileSync(file('key')), cert: readFileSync(file('pem')) };
}

/** The edge under another certificate. */
async function serve(t: Ends, { key, cert }: Certificate): Promise<AddressInfo> {
  const { hostname, port } = new URL(stack.endpoints.webTls);
  const server = createServer({ key, cert }, (client) => {
    const edge = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    for (const socket of [client, edge])
      socket.on('error', () => [client, edge].forEach((one) => one.destroy()));
    client.pipe(edge).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server.address() as AddressInfo;
}
