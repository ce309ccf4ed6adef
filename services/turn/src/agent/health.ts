/** Health, readiness and metrics of a node over HTTP. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { networkQuota, totalQuota } from '../render.ts';
import type { Coturn } from './coturn.ts';
import type { Lease } from './lease.ts';
import { metricsText } from './metrics.ts';
import type { Settings } from './settings.ts';

export interface HealthParts {
  readonly coturn: Coturn;
  /** Whether coturn answers. */
  readonly answers: () => Promise<boolean>;
  readonly lease: Lease | undefined;
}

/** Listens on every address: both Kubernetes and the edge send requests to the node's own. */
export function createHealth(settings: Settings, { coturn, answers, lease }: HealthParts): Server {
  const server = createServer((request, response) => {
    void answer(request.url ?? '/', response);
  });
  // A rollout continues with the next node when this one is ready, so signaling must know this node by then. NATS may disconnect afterwards.
  const isReady = async (): Promise<boolean> =>
    !coturn.isDraining() && (lease?.wasHeld() ?? true) && (await answers());

  async function answer(url: string, response: ServerResponse): Promise<void> {
    // A node that drains still serves its clients.
    if (url === '/healthz') return send(response, await answers());
    if (url === '/readyz') return send(response, await isReady());
    if (url !== '/metrics') return void response.writeHead(404).end();
    const state = {
      allocations: coturn.allocations(),
      capacity: totalQuota(settings),
      networkQuota: networkQuota(settings),
      isDraining: coturn.isDraining(),
      answers: await answers(),
      isLeaseHeld: lease?.isHeld() ?? false,
      suppressedLines: coturn.suppressedLines(),
    };
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(metricsText(state));
  }
  return server.listen(settings.healthPort);
}

function send(response: ServerResponse, good: boolean): void {
  response.writeHead(good ? 200 : 503).end();
}
