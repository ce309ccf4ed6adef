/** The routes of /v1, each to its handler. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ROUTES } from '@parley/protocol/routes';
import { ban, listBans, unban } from './bans.ts';
import { changeRoom } from './change-room.ts';
import { setCoOwner } from './co-owners.ts';
import type { RouteContext } from './context.ts';
import { createRoom } from './create-room.ts';
import { deleteRoom } from './delete-room.ts';
import { endCall } from './end-call.ts';
import { joinRoom } from './join-room.ts';
import { listParticipants } from './list-participants.ts';
import { listRegions } from './list-regions.ts';
import { moderate } from './moderate.ts';
import { mute } from './mutes.ts';
import { openLive } from './open-live.ts';
import { readRoom } from './read-room.ts';

type RoomRequest = FastifyRequest<{ Params: { room: string } }>;
type ParticipantRequest = FastifyRequest<{ Params: { room: string; participant: string } }>;
type LiveRequest = FastifyRequest<{ Params: { name: string } }>;
type BanRequest = FastifyRequest<{ Params: { room: string; ban: string } }>;

export function addRoutes(app: FastifyInstance, context: RouteContext): void {
  app.post(ROUTES.createRoom.path, (request, reply) => createRoom(context, request, reply));
  app.get(ROUTES.readRoom.path, (request: RoomRequest, reply) => readRoom(context, request, reply));
  app.delete(ROUTES.deleteRoom.path, (request: RoomRequest, reply) => deleteRoom(context, request, reply));
  app.post(ROUTES.joinRoom.path, (request: RoomRequest, reply) => joinRoom(context, request, reply));
  app.patch(ROUTES.changeRoom.path, (request: RoomRequest, reply) => changeRoom(context, request, reply));
  app.get(ROUTES.listBans.path, (request: RoomRequest, reply) => listBans(context, request, reply));
  app.delete(ROUTES.unban.path, (request: BanRequest, reply) => unban(context, request, reply));
  app.get(ROUTES.listParticipants.path, (request: RoomRequest, reply) =>
    listParticipants(context, request, reply),
  );
  app.post(ROUTES.ban.path, (request: ParticipantRequest, reply) => ban(context, request, reply));
  app.post(ROUTES.endCall.path, (request: RoomRequest, reply) => endCall(context, request, reply));
  for (const [{ path }, isCoOwner] of [
    [ROUTES.makeCoOwner, true],
    [ROUTES.removeCoOwner, false],
  ] as const)
    app.post(path, (request: ParticipantRequest, reply) => setCoOwner(context, isCoOwner, request, reply));
  for (const action of ['mute', 'unmute'] as const)
    app.post(ROUTES[action].path, (request: ParticipantRequest, reply) =>
      mute(context, action, request, reply),
    );
  for (const [{ path }, action] of [
    [ROUTES.kick, 'kick'],
    [ROUTES.requestMute, 'request-mute'],
    [ROUTES.lowerHand, 'lower-hand'],
    [ROUTES.admit, 'admit'],
    [ROUTES.deny, 'deny'],
  ] as const)
    app.post(path, (request: ParticipantRequest, reply) => moderate(context, action, request, reply));
  app.get(ROUTES.listRegions.path, (request, reply) => listRegions(context, request, reply));
  app.post(ROUTES.openLive.path, (request: LiveRequest, reply) => openLive(context, request, reply));
  app.options('/v1/*', (_request, reply) => reply.code(204).send());
}
