/** A named room and the requests of its owner, over HTTP. */
import { randomBytes } from 'node:crypto';
import type { Ban, BanList, ChangeRoomRequest, CreateRoomAnswer, ErrorAnswer } from '@parley/protocol/http';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export const codeIn = ({ body }: Answer): string | undefined => (body as ErrorAnswer | null)?.code;

export class Owner {
  readonly room: string;
  readonly key: string;

  private constructor(room: string, key: string) {
    this.room = room;
    this.key = key;
  }

  static async of(url: string, about: { cap?: number; lobby?: boolean; name?: string } = {}): Promise<Owner> {
    const name = about.name ?? `room-${randomBytes(5).toString('hex')}`;
    const answer = await request(url, 'POST', '/v1/rooms', { body: { ...about, name } });
    if (answer.status !== 201) throw new Error(`the room was not made: ${codeIn(answer)}`);
    const { room, ownerKey } = answer.body as CreateRoomAnswer;
    return new Owner(room.room, ownerKey);
  }

  get authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.key}` };
  }

  to(url: string, participant: string, action: string, body?: object): Promise<Answer> {
    return this.ask(url, 'POST', `/participants/${participant}/${action}`, body);
  }

  change(url: string, change: ChangeRoomRequest): Promise<Answer> {
    return this.ask(url, 'PATCH', '', change);
  }

  async bans(url: string): Promise<readonly Ban[]> {
    const { body } = await this.ask(url, 'GET', '/bans');
    return (body as BanList).bans;
  }

  ask(
    url: string,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = this.authorization,
  ): Promise<Answer> {
    return request(url, method, `/v1/rooms/${this.room}${path}`, { body, headers });
  }
}

async function request(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: object | undefined; headers?: Record<string, string> },
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}
