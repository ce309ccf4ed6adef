/** A named room and the requests of its owner. */
import { randomBytes } from 'node:crypto';
import type { CreateRoomAnswer } from '@parley/protocol/http';
import { ask, type Asked } from './ask.ts';
import type { Arena } from './arena.ts';

export class NamedRoom {
  readonly room: string;
  readonly key: string;
  readonly #arena: Arena;
  readonly #from: string;

  private constructor(arena: Arena, from: string, { room, ownerKey }: CreateRoomAnswer) {
    this.#arena = arena;
    this.#from = from;
    this.room = room.room;
    this.key = ownerKey;
  }

  static async create(
    arena: Arena,
    about: { readonly cap?: number; readonly lobby?: boolean } = {},
  ): Promise<NamedRoom> {
    const from = arena.address();
    const json = { ...about, name: `hostile-${randomBytes(5).toString('hex')}` };
    const answer = await ask(arena.edge, '/v1/rooms', { from, json });
    if (answer.status !== 201) throw new Error(`the room was not created: ${answer.status} ${answer.code}`);
    return new NamedRoom(arena, from, JSON.parse(answer.body) as CreateRoomAnswer);
  }

  get authorization(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.key}` };
  }

  /** A request below the room's address, by its owner unless another key or address is given. */
  ask(
    method: string,
    path: string,
    options: { readonly json?: unknown; readonly key?: string; readonly from?: string } = {},
  ): Promise<Asked> {
    const { json, key = this.key, from = this.#from } = options;
    const headers = { authorization: `Bearer ${key}` };
    return ask(this.#arena.edge, `/v1/rooms/${this.room}${path}`, { from, method, headers, json });
  }

  async owns(method: string, path: string, json?: unknown): Promise<void> {
    const { status, code } = await this.ask(method, path, { json });
    if (status >= 300) throw new Error(`the owner was refused ${method} ${path}: ${status} ${code}`);
  }
}
