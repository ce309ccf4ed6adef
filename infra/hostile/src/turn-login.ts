/** The TURN credential of a participant. */
import type { IceServer } from '@parley/protocol/http';
import type { Login } from '../../../services/turn/test/turn-client.ts';
import type { Arena } from './arena.ts';
import { Participant } from './participant.ts';

/** A participant in a room, and its TURN login. */
export async function credentialOf(
  arena: Arena,
  from = arena.address(),
): Promise<{ readonly who: Participant; readonly login: Login }> {
  const who = await Participant.enter(arena.edge, arena.room(), { from });
  who.send({ type: 'ice' });
  const { iceServers } = await who.waitFor('ice');
  const login = loginIn(iceServers);
  if (login === undefined) throw new Error('a participant got no TURN credential');
  return { who, login };
}

export function loginIn(servers: readonly IceServer[]): Login | undefined {
  const found = servers.find(
    ({ username, credential }) => username !== undefined && credential !== undefined,
  );
  return found?.username === undefined || found.credential === undefined
    ? undefined
    : { username: found.username, password: found.credential };
}

export function turnServer({ stack }: Arena): { readonly ip: string; readonly port: number } {
  const [, ip = '', port = ''] = /^turn:([^:]+):(\d+)/.exec(stack.endpoints.turn.urls[0] ?? '') ?? [];
  return { ip, port: Number(port) };
}
