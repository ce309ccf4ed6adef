import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { isIP } from 'node:net';
import { requestAddress } from '../probe.ts';
import type { Settings } from './settings.ts';

const STUN_TIMEOUT_MS = 5000;
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The address at which clients reach this node. Throws an Error with a sentence where there is none, as the node could relay for no client. */
export async function publicAddress(settings: Settings): Promise<string> {
  const address = await addressFrom(settings);
  if (isIP(address) === 0)
    throw new Error(`the public address of ${settings.node} is "${address}", which is no address`);
  return address;
}

async function addressFrom({ source, ...settings }: Settings): Promise<string> {
  switch (source) {
    case 'node':
      return settings.nodeIp;
    case 'values': {
      const address = settings.addresses[settings.node];
      if (address === undefined)
        throw new Error(`turn.publicAddress.addresses does not name ${settings.node}`);
      return address;
    }
    case 'annotation': {
      const node = await readNode(settings.node);
      const address = node.metadata.annotations?.[settings.annotation];
      if (address === undefined)
        throw new Error(
          `node ${settings.node} has no annotation ${settings.annotation}: kubectl annotate it`,
        );
      return address;
    }
    case 'stun': {
      const colon = settings.stunServer.lastIndexOf(':');
      const host = settings.stunServer.slice(0, colon);
      const port = Number(settings.stunServer.slice(colon + 1));
      return requestAddress({ host, port, from: settings.nodeIp, deadlineMs: STUN_TIMEOUT_MS });
    }
    default:
      return source satisfies never;
  }
}

interface Node {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Reads the Node from Kubernetes with the token of the pod's service account, which may get Nodes. */
function readNode(name: string): Promise<Node> {
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
          if (response.statusCode === 200) resolve(JSON.parse(body) as Node);
          else reject(new Error(`Kubernetes answers ${response.statusCode} for node ${name}: ${body}`));
        });
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('Kubernetes does not answer')));
    asked.once('error', reject);
    asked.end();
  });
}
