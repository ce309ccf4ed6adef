/** Liveness, readiness and metrics of a pod, for Kubernetes and Prometheus. */
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from './context.ts';

export function addHealthRoutes(app: FastifyInstance, { config, pod }: RouteContext): void {
  app.get('/healthz', (_request, reply) => reply.send({ status: 'live', pod: config.pod }));
  app.get('/readyz', (_request, reply) =>
    reply.code(pod.isReady ? 200 : 503).send({ ready: pod.isReady, draining: pod.isDraining }),
  );
  app.get('/metrics', async (_request, reply) =>
    reply.type(pod.metrics.registry.contentType).send(await pod.metrics.registry.metrics()),
  );
}
