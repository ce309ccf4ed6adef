/** Health, readiness and metrics of a node over HTTP. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { probeStun } from '../probe.ts';
import type { Coturn } from './coturn.ts';
import { metricsText } from './metrics.ts';
import type { Settings } from './settings.ts';

// Kubernetes and the edge ask every second or two and give up after one.
const PROBE_WITHIN_MS = 800;

/** Listens on every address: Kubernetes asks the node's own, the edge too. */
export function createHealth(settings: Settings, coturn: Coturn): Server {
  const answers = (): Promise<boolean> =>
    probeStun(settings.nodeIp, settings.port, PROBE_WITHIN_MS).then(
      () => true,
      () => false,
    );
  const server = createServer((request, response) => {
    void answer(request.url ?? '/', response);
  });
  async function answer(url: string, response: ServerResponse): Promise<void> {
    // A node that drains still works for whoever is on it.
    if (url === '/healthz') return send(response, await answers());
    if (url === '/readyz') return send(response, !coturn.isDraining() && (await answers()));
    if (url !== '/metrics') return void response.writeHead(404).end();
    const state = {
      allocations: coturn.allocations(),
      ports: settings.maxPort - settings.minPort + 1,
      isDraining: coturn.isDraining(),
      answers: await answers(),
    };
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(metricsText(state));
  }
  return server.listen(settings.healthPort);
}

function send(response: ServerResponse, good: boolean): void {
  response.writeHead(good ? 200 : 503).end();
}
