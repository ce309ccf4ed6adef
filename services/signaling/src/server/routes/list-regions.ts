/**
 * `GET /v1/regions`. A client also measures with it how near a region is and whether it accepts participants, so a pod that is not ready or full refuses.
 * SPEC rules REG-7, LIM-14.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { regionList } from '../regions.ts';
import { refuse } from '../refusal.ts';
import { addressOf, publicOrigin } from '../visitor.ts';
import type { RouteContext } from './context.ts';

export function listRegions(
  { config, pod, reads }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const wait = reads.take(addressOf(request.raw, config.trustedProxies), pod.now());
  if (wait !== undefined) return refuse(reply, 'TOO_MANY_REQUESTS', undefined, wait);
  if (!pod.isReady) return refuse(reply, 'NOT_READY');
  if (pod.socketCount >= config.limits['pod.sockets']) return refuse(reply, 'POD_FULL');
  // A cache would answer for a region that is lost.
  return reply
    .header('vary', 'origin')
    .header('cache-control', 'no-store')
    .send(regionList(config, publicOrigin(request.raw, config)));
}
