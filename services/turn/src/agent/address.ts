/** The addresses of a node: its own, and those at which clients reach it. SPEC rule TURN-14. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { requestAddress } from '../probe.ts';
import { log } from './log.ts';
import type { Settings } from './settings.ts';

/** An address of the node, and the one at which clients reach it, which is another one behind one-to-one NAT. */
export interface NodeAddress {
  readonly own: string;
  readonly public: string;
}

const STUN_TIMEOUT_MS = 5000;
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The addresses of this node, at most one of each family, in the order of `nodeIps`. An address for which there is no public one is not used. Throws an
 * Error with a sentence where there is none at all, as the node could relay for no client.
 */
export async function nodeAddresses({ source, ...settings }: Settings): Promise<NodeAddress[]> {
  const { node, nodeIps } = settings;
  switch (source) {
    case 'node':
      return nodeIps.map((own) => ({ own, public: own }));
    case 'values': {
      const addresses = settings.addresses[node];
      if (addresses === undefined) throw new Error(`turn.publicAddress.addresses does not name ${node}`);
      return pairs(settings, addresses);
    }
    case 'annotation': {
      const { metadata } = await readNode(node);
      const addresses = metadata.annotations?.[settings.annotation];
      if (addresses === undefined)
        throw new Error(`node ${node} has no annotation ${settings.annotation}: kubectl annotate it`);
      return pairs(settings, addresses);
    }
    case 'stun':
      return seenFromOutside(settings);
    default:
      return source satisfies never;
  }
}

type Node = Pick<Settings, 'node' | 'nodeIps'>;

/** Pairs public addresses, separated by commas, with the node's own of the same family. */
function pairs({ node, nodeIps }: Node, list: string): NodeAddress[] {
  const addresses = list.split(',').map((address) => address.trim());
  for (const address of addresses) {
    if (isIP(address) === 0)
      throw new Error(`the public address of ${node} is "${address}", which is no address`);
    if (!nodeIps.some((own) => isIP(own) === isIP(address)))
      throw new Error(`the public address of ${node} is ${address}, of a family that the node itself lacks`);
  }
  if (new Set(addresses.map(isIP)).size < addresses.length)
    throw new Error(`${node} has two public addresses of one family: ${list}`);
  return nodeIps.flatMap((own) => {
    const found = addresses.find((address) => isIP(address) === isIP(own));
    return found === undefined ? [] : [{ own, public: found }];
  });
}

/** Asks the STUN server from each of the node's addresses. */
async function seenFromOutside({
  node,
  nodeIps,
  stunServer,
}: Node & Pick<Settings, 'stunServer'>): Promise<NodeAddress[]> {
  const colon = stunServer.lastIndexOf(':');
  const host = stunServer.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(stunServer.slice(colon + 1));
  const isOfItsFamily = (own: string): boolean => isIP(host) === 0 || isIP(host) === isIP(own);
  const asked = await Promise.allSettled(
    nodeIps.filter(isOfItsFamily).map(async (own) => {
      const address = await requestAddress({ host, port, from: own, deadlineMs: STUN_TIMEOUT_MS });
      return { own, public: address };
    }),
  );
  const failures = asked.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (found.length === 0)
    throw new Error(failures[0] ?? `${stunServer} has no address of a family of ${node}`);
  for (const failure of failures) log('an address of the node is not used', { failure });
  return found;
}

interface NodeObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Reads the Node from Kubernetes with the token of the pod's service account, which may get Nodes. */
function readNode(name: string): Promise<NodeObject> {
  const token = readFileSync(`${ACCOUNT}/token`, 'utf8');
  const ca = readFileSync(`${ACCOUNT}/ca.crt`);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: process.env['KUBERNETES_SERVICE_HOST'],
        port: process.env['KUBERNETES_SERVICE_PORT'],
        path: `/api/v1/nodes/${encodeURIComponent(name)}`,
        headers: { authorization: `Bearer ${token}` },
        ca,
        timeout: 5000,
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('end', () => {
          const body = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve(JSON.parse(body) as NodeObject);
          else reject(new Error(`Kubernetes answers ${response.statusCode} for node ${name}: ${body}`));
        });
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('Kubernetes does not answer')));
    asked.once('error', reject);
    asked.end();
  });
}
