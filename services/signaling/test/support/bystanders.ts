/** Two participants who exchange messages while a third misbehaves in their room, and who must see only the changes that are allowed. */
import assert from 'node:assert/strict';
import type { ServerMessage } from '@parley/protocol/server-messages';
import { Client } from './client.ts';
import { randomRoom } from './pod.ts';

/** Changes of the misbehaving participant that the others may see, such as its join and leave. */
export type News = readonly ServerMessage['type'][];

export async function withBystanders(
  url: string,
  act: (room: string, bystander: Client) => Promise<void>,
  news: News = [],
  room: string = randomRoom(),
): Promise<void> {
  const ada = await Client.enter(url, room, 'Ada');
  const bob = await Client.enter(url, room, 'Bob');
  await ada.waitFor('joined', { match: ({ member }) => member.participant === bob.participant });
  await talk(ada, bob, 'before');
  const marks = [ada.log.length, bob.log.length];
  const directed = [ada.directed.length, bob.directed.length];
  await act(room, ada);
  await talk(ada, bob, 'after');
  for (const [at, person] of [ada, bob].entries()) {
    const types = person.log.slice(marks[at]).map(({ type }) => type);
    const unexpected = types.filter((type) => !news.includes(type));
    assert.deepEqual(unexpected, [], 'the others in the room notice nothing');
    assert.equal(person.directed.length, (directed[at] ?? 0) + 1, 'and get only what was meant for them');
  }
  ada.drop();
  bob.drop();
}

async function talk(one: Client, other: Client, word: string): Promise<void> {
  one.send(other, `${word}-1`, `${word}, to you`);
  assert.equal((await other.waitForDirected(`${word}, to you`)).from, one.participant);
  other.send(one, `${word}-2`, `${word}, and back`);
  assert.equal((await one.waitForDirected(`${word}, and back`)).from, other.participant);
}
