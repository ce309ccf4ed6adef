/** `POST /v1/live/{name}`: a relay for a broadcast without a room. SPEC rules MEDIA-8, LIM-13. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decode } from '@parley/protocol/decode';
import { LiveRequest, type LiveAnswer } from '@parley/protocol/http';
import { LiveName } from '@parley/protocol/ids';
import { liveBroadcast } from '@parley/protocol/media';
import { refuse } from '../refusal.ts';
import { addressOf } from '../visitor.ts';
import type { RouteContext } from './context.ts';

export function openLive(
  { config, pod, joins }: RouteContext,
  request: FastifyRequest<{ Params: { name: string } }>,
  reply: FastifyReply,
): FastifyReply {
  const body = decode(LiveRequest, request.body ?? {});
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  const { name } = request.params;
  if (!decode(LiveName, name).ok) return refuse(reply, 'NAME_INVALID');
  if (!config.live) return refuse(reply, 'LIVE_DISABLED');
  if (pod.isDraining) return refuse(reply, 'NOT_READY');
  const address = addressOf(request.raw, config.trustedProxies);
  const wait = joins.take(address, pod.now());
  if (wait !== undefined) return refuse(reply, 'TOO_MANY_JOINS', undefined, wait);
  const later = pod.turns.askToWatch();
  if (later !== undefined) return refuse(reply, 'BUSY', undefined, later);
  const relay = pod.liveOffer(name, body.message);
  if (relay === null) return refuse(reply, 'RELAY_UNAVAILABLE');
  const answer: LiveAnswer = { broadcast: liveBroadcast(name), relay };
  return reply.header('cache-control', 'no-store').send(answer);
}
