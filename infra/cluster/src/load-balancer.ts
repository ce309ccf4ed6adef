/**
 * The load balancer in front of the edge, like one of a cloud for TCP: it has its own address and sends new connections to the nodes that
 * answer on 443, in turn. Rules of the kernel implement it for clients within the lab's network; clients keep their address.
 */
import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { balancerAddress, nodes, type Node } from './lab.ts';

const chain = 'PARLEY-BALANCER';
const ports = [80, 443];
// A node that misses two checks gets no new connections: after four seconds, where clouds take six to twenty.
const checkEveryMs = 2000;
const answerWithinMs = 1000;
const misses = 2;

const missed = new Map<string, number>();
let inForce: string | undefined;

prepare();
for (;;) {
  const healthy = await check();
  // With no healthy node left, all are tried.
  lead(healthy.length > 0 ? healthy : nodes);
  await delay(checkEveryMs);
}

async function check(): Promise<readonly Node[]> {
  const answers = await Promise.all(nodes.map(answers443));
  for (const [index, { name }] of nodes.entries()) {
    missed.set(name, answers[index] ? 0 : (missed.get(name) ?? misses) + 1);
  }
  return nodes.filter(({ name }) => (missed.get(name) ?? 0) < misses);
}

function answers443({ address }: Node): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(443, address);
    const end = (isSo: boolean): void => {
      socket.destroy();
      resolve(isSo);
    };
    socket.setTimeout(answerWithinMs, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function prepare(): void {
  tryIptables('--new-chain', chain);
  const jump = ['OUTPUT', '--destination', balancerAddress, '--jump', chain];
  if (!tryIptables('--check', ...jump)) iptables('--append', ...jump);
}

/** Established connections keep their node: the kernel tracks them. */
function lead(to: readonly Node[]): void {
  const rules = ports.flatMap((port) =>
    to.map(({ address }, index) => {
      // Each rule takes its share of the connections that the earlier rules left.
      const turn = `--match statistic --mode nth --every ${to.length - index} --packet 0`;
      return `-A ${chain} --protocol tcp --dport ${port} ${turn} --jump DNAT --to-destination ${address}:${port}`;
    }),
  );
  const text = ['*nat', `:${chain} - [0:0]`, ...rules, 'COMMIT', ''].join('\n');
  if (text === inForce) return;
  execFileSync('iptables-restore', ['--wait', '--noflush'], { input: text });
  inForce = text;
  console.log(`leads to ${to.map(({ name }) => name).join(', ')}`);
}

function iptables(...args: string[]): void {
  execFileSync('iptables', ['--wait', '--table', 'nat', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function tryIptables(...args: string[]): boolean {
  try {
    iptables(...args);
    return true;
  } catch {
    return false;
  }
}
