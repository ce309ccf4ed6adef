/** Which messages a pod publishes about a room, depending on which other pods have it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BusMessage, Section } from '@parley/protocol/bus';
import { defaultLimits } from '@parley/protocol/limits';
import { createCore } from '../../src/core/core.ts';
import type { Effect } from '../../src/core/effects.ts';
import { ROOM, adHoc } from '../support/ad-hoc.ts';
import { World } from '../support/world.ts';

const OTHER = 'z';
const BOOT = 1_000_000;
const EPOCH = BOOT + 1;
const NO_MEDIA = { audio: false, video: false, screen: false };
const about = { room: ROOM, pod: OTHER };
const section = (epoch = EPOCH, boot = BOOT): Section => ({
  pod: OTHER,
  boot,
  epoch,
  seq: 0,
  dead: false,
  entries: [],
  tombstones: [],
});
const hello = (epoch?: number, boot?: number): BusMessage => ({
  type: 'hello',
  ...about,
  section: section(epoch, boot),
});
const bye = (epoch = EPOCH): BusMessage => ({ type: 'bye', ...about, epoch });
const sections = (own: readonly Section[]): BusMessage => ({
  type: 'sections',
  ...about,
  sections: [...own],
  named: [],
  recoveringMs: 0,
  chat: [],
});
const digest: BusMessage = { type: 'digest', ...about, epoch: EPOCH, seq: 0, hash: 0x811c9dc5 };
const line = { id: 'l', from: 'p0000000000000009', name: 'Zoe', text: 'Hi', at: 0, proof: 'A'.repeat(22) };

/** One pod, its clock, and what it publishes to the room. */
class Alone {
  readonly #core = createCore({ pod: 'a', boot: BOOT, limits: defaultLimits(), now: 0, random: () => 0.5 });
  #now = 0;
  #people = 0;
  readonly #published: string[] = [];
  /** The other pods that live. */
  others: readonly BusMessage[] = [OTHER, 'y'].map((pod) => ({ type: 'heartbeat', pod, boot: BOOT }));

  constructor() {
    this.advance(2000);
    this.join();
    this.advance(4000);
  }

  /** The types of the messages to the room since the last call. */
  published(): string[] {
    return this.#published.splice(0);
  }

  join(): void {
    this.#people += 1;
    const participant = `p000000000000000${this.#people}`;
    const person = { participant, generation: 1, incarnation: undefined, owner: false, visitor: undefined };
    const arrival = { ...person, view: adHoc(), policy: undefined, name: 'Ada', media: NO_MEDIA, token: '' };
    this.#keep(this.#core.handle({ type: 'join', socket: this.#people, ...arrival }, this.#now));
  }

  leave(socket: number): void {
    this.#keep(this.#core.handle({ type: 'leave', socket }, this.#now));
  }

  receive(...messages: readonly BusMessage[]): void {
    for (const message of messages) this.#keep(this.#core.handle({ type: 'bus', message }, this.#now));
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (
      let next = this.#core.nextWake();
      next !== undefined && next <= until;
      next = this.#core.nextWake()
    ) {
      this.#now = next;
      this.#keep(this.#core.wake(next));
    }
    this.#now = until;
  }

  /** What it publishes about a change, and then in the next 4 s. */
  publishedAfterJoin(): string[] {
    this.advance(4000);
    this.published();
    this.join();
    this.advance(4000);
    return this.published();
  }

  /** The bus hands its own heartbeats back. */
  #keep(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'publish-room') this.#published.push(effect.message.type);
      if (effect.type === 'heartbeat') this.receive(effect.message, ...this.others);
    }
  }
}

const CHANGE = ['delta', 'digest', 'digest'];

test('[ROS-19] a pod that has heard no other pod about a room publishes three hellos, a digest twice a minute, and no change', () => {
  const pod = new Alone();
  assert.deepEqual(pod.published(), ['hello', 'hello', 'hello']);
  assert.deepEqual(pod.publishedAfterJoin(), []);
  pod.advance(60_000);
  assert.deepEqual(pod.published(), ['digest', 'digest']);
  pod.leave(1);
  pod.leave(2);
  pod.advance(30_000);
  assert.deepEqual(pod.published(), []);
});

test('[ROS-19] while another pod has the room each change is published, with two digests, and the end with a bye', () => {
  const pod = new Alone();
  pod.receive(hello());
  assert.deepEqual(pod.publishedAfterJoin(), CHANGE);
  pod.receive(bye());
  assert.deepEqual(pod.publishedAfterJoin(), []);
  pod.receive(hello(EPOCH + 1));
  pod.advance(4000);
  assert.deepEqual(pod.published(), ['digest', 'digest']);
  for (const socket of [1, 2, 3]) pod.leave(socket);
  pod.advance(4000);
  assert.deepEqual(pod.published(), ['delta', 'delta', 'delta', 'digest', 'digest', 'bye']);
});

const SPEAKS: readonly (readonly [title: string, message: BusMessage, counts: boolean])[] = [
  ['hello', hello(), true],
  ['a delta', { type: 'delta', ...about, epoch: EPOCH, seq: 1 }, true],
  ['a digest', digest, true],
  ['an answer with its section', sections([section()]), true],
  ['a request for sections', { type: 'sections-request', ...about }, true],
  ['a chat line', { type: 'chat', ...about, line }, true],
  ['an answer without a section', sections([]), false],
  ['an answer with the section of a third pod', sections([{ ...section(), pod: 'y' }]), false],
  ['a heartbeat', { type: 'heartbeat', pod: OTHER, boot: BOOT }, false],
];

for (const [title, message, counts] of SPEAKS)
  test(`[ROS-19] ${title} of another pod ${counts ? 'shows' : 'does not show'} that it has the room`, () => {
    const pod = new Alone();
    pod.receive(message);
    assert.equal(pod.publishedAfterJoin().includes('delta'), counts);
  });

test('[ROS-19] a bye that a later hello of the same pod overtook does not end its interest, and a late message restores none', () => {
  const pod = new Alone();
  pod.receive(hello(), hello(EPOCH + 1), bye(EPOCH));
  assert.deepEqual(pod.publishedAfterJoin(), CHANGE);
  pod.receive(bye(EPOCH + 1), { ...digest, epoch: EPOCH + 1 });
  assert.deepEqual(pod.publishedAfterJoin(), []);
});

test('[ROS-19] of several pods that have the room the last one counts', () => {
  const pod = new Alone();
  pod.receive(hello(), { ...hello(), pod: 'y', section: { ...section(), pod: 'y' } } as BusMessage, bye());
  assert.deepEqual(pod.publishedAfterJoin(), CHANGE);
});

test('[ROS-19] a pod that restarts has the room no more, until its new process publishes about it', () => {
  const pod = new Alone();
  const restart = (boot: number): BusMessage => ({ type: 'heartbeat', pod: OTHER, boot });
  pod.receive(hello());
  // The hello of the new process overtakes its first heartbeat.
  pod.others = [restart(2 * BOOT)];
  pod.receive(hello(2 * EPOCH, 2 * BOOT));
  assert.deepEqual(pod.publishedAfterJoin(), CHANGE);
  pod.others = [restart(3 * BOOT)];
  assert.deepEqual(pod.publishedAfterJoin(), []);
});

test('[ROS-19] a pod that dies has the room no more', () => {
  const pod = new Alone();
  pod.receive(hello());
  assert.deepEqual(pod.publishedAfterJoin(), CHANGE);
  pod.others = [];
  // It publishes what it knows of the dead pod, twice (ROS-16).
  pod.advance(2000);
  assert.deepEqual(pod.publishedAfterJoin(), []);
});

test('[ROS-19] changes from before another pod was heard reach it although every answer to it is lost', () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  world.advance(5000);
  for (let answer = 0; answer < 4; answer += 1)
    world.network.drop(({ from, type }) => from === 'a' && type === 'sections');
  const bob = world.person();
  bob.join('b');
  world.advance(2000);
  assert.deepEqual(world.roster('b'), [`${ada.id} here`, `${bob.id} here`].toSorted());
});

test('[ROS-19] [ROS-10] a pod that was not heard at all learns of a change by the steady digest', () => {
  const world = new World({ pods: ['a', 'b'] });
  const isFromB = ({ from, type }: { from: string; type: string }): boolean =>
    from === 'b' && type !== 'heartbeat';
  for (let lost = 0; lost < 4; lost += 1) world.network.drop(isFromB);
  const bob = world.person();
  bob.join('b');
  world.advance(400);
  const ada = world.person();
  ada.join('a');
  world.advance(40_000);
  assert.deepEqual(world.roster('a'), world.roster('b'));
  assert.equal(world.roster('b').length, 2);
});

test("[ROS-19] after a cut that each side took for the other's death every change is published again", () => {
  const world = new World({ pods: ['a', 'b'] });
  const ada = world.join('a');
  const bob = world.join('b');
  world.network.cut('a', 'b');
  world.advance(10_000);
  ada.change({ name: 'Ada L' });
  world.network.heal('a', 'b');
  world.advance(3000);
  assert.deepEqual(world.roster('a'), world.roster('b'));
  bob.change({ name: 'Bob B' });
  world.advance(50);
  assert.equal(ada.messagesOf('changed').length, 1);
  assert.deepEqual(
    bob.messagesOf('changed').map(({ name }) => name),
    ['Ada L'],
  );
});
