/**
 * `POST /admin/homes/{region}/promote`: an operator makes this region answer for the rooms of another one. Only from inside the pod, as with
 * `kubectl port-forward`: for others nothing is at this address. The body has to be JSON, which no page of another origin can send. SPEC rule HOME-12.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { decode } from '@parley/protocol/decode';
import { RegionId } from '@parley/protocol/ids';
import { refuse } from '../refusal.ts';
import type { RouteContext } from './context.ts';

const PromoteRequest = Type.Object({
  /** Regions that do not answer, of which the operator knows that they do not use the home. */
  without: Type.Array(RegionId, { maxItems: 100 }),
});

export async function promoteRegion(
  { config, log, promote }: RouteContext,
  request: FastifyRequest<{ Params: { region: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { remoteAddress, localAddress } = request.raw.socket;
  if (remoteAddress !== localAddress) return refuse(reply, 'NOT_FOUND');
  const home = decode(RegionId, request.params.region);
  const body = decode(PromoteRequest, request.body);
  if (!home.ok) return refuse(reply, 'BAD_REQUEST', home.reason);
  if (!body.ok) return refuse(reply, 'BAD_REQUEST', body.reason);
  const promotion = await promote(home.message, body.message.without);
  log.warn({ home: home.message, by: config.region, ...promotion }, 'promotion');
  const answer = { home: home.message, by: config.region, ...promotion };
  return reply.code(promotion.ok ? 200 : 409).send(answer);
}
