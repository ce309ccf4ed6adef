/** A network namespace for clients, with a cable to this machine that loses packets in both directions, and adds no delay. Root is needed. */
import { execFileSync } from 'node:child_process';
import { deleteNamespace, ip } from '@parley/regions/src/namespaces.ts';

export interface LossyLink {
  /** Where clients have to be. */
  readonly namespace: string;
  /** This machine's end of the cable, where servers listen. */
  readonly address: string;
  close(): void;
}

/** The ends of the cable: a network for benchmarks (RFC 2544). */
const ENDS = { here: '198.18.7.1', there: '198.18.7.2' };
const DEVICE = 'machine';

export const mayMakeLinks = (): boolean => process.getuid?.() === 0;

/** `lossPercent`: of UDP packets, chosen at random. */
export function makeLossyLink(lossPercent: number): LossyLink {
  const namespace = `parley${process.pid}`;
  const close = (): void => deleteNamespace(namespace);
  try {
    ip(`netns add ${namespace}`);
    ip(`link add ${namespace} type veth peer name ${DEVICE} netns ${namespace}`);
    ip(`addr add ${ENDS.here}/30 dev ${namespace}`);
    ip(`link set ${namespace} up`);
    ip(`-n ${namespace} addr add ${ENDS.there}/30 dev ${DEVICE}`);
    ip(`-n ${namespace} link set ${DEVICE} up`);
    execFileSync('nsenter', [`--net=/run/netns/${namespace}`, 'nft', rules(lossPercent)]);
  } catch (error) {
    close();
    throw error;
  }
  return { namespace, address: ENDS.here, close };
}

const rules = (lossPercent: number): string => {
  const drop = `meta l4proto udp numgen random mod 100 < ${lossPercent} drop`;
  const chain = (hook: string): string =>
    `add chain inet loss ${hook} { type filter hook ${hook} priority 0; }; add rule inet loss ${hook} ${drop}`;
  return ['add table inet loss', chain('input'), chain('output')].join('; ');
};
