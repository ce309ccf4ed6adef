/**
 * What each client was shown: the roster that follows from its messages. At every moment it is that of the client's pod, with states, names and media
 * (ROS-2, ROS-15). A client is shown only participants of its room, never an earlier name of one again, and of the lobby only what an owner may see
 * (MOD-5).
 */
import assert from 'node:assert/strict';
import type { Media, Member } from '@parley/protocol/people';
import type { CoreMessage } from '../src/core/effects.ts';
import type { Person } from '../test/support/person.ts';
import type { World } from '../test/support/world.ts';
import type { Certainty } from './certainty.ts';

interface Shown {
  readonly state: Member['state'];
  readonly name: string;
  readonly media: Media;
}

interface View {
  upTo: number;
  isWelcomed: boolean;
  readonly roster: Map<string, Shown>;
  readonly lobby: Map<string, string>;
  /** The latest change of each participant's name that was shown on this socket. */
  readonly changes: Map<string, number>;
}

/** `Person 3 #7` after its seventh change. */
export const nameAfter = (person: Person, change: number): string => `${person.name} #${change}`;
const changeIn = (name: string): number => Number(/#(\d+)$/.exec(name)?.[1] ?? Number.NaN);

export const rowOf = (id: string, { state, name, media }: Shown): string => {
  const { audio, video, screen, hand } = media;
  return `${id} ${state} "${name}"${audio ? ' audio' : ''}${video ? ' video' : ''}${screen ? ' screen' : ''} ${hand ?? ''}`;
};

export class ClientViews {
  readonly #world: World;
  readonly #certainty: Certainty;
  readonly #views = new Map<Person, View>();

  constructor(world: World, certainty: Certainty) {
    this.#world = world;
    this.#certainty = certainty;
  }

  /** Must be called after every step. */
  check(): void {
    const rooms = new Map(this.#world.people.map(({ id, view }) => [id, view.room]));
    const inLobby = new Set(this.#world.people.filter(isNewcomer).map(({ id }) => id));
    for (const reader of this.#world.people) {
      const view = this.#read(reader);
      for (const id of view.roster.keys()) {
        assert.equal(rooms.get(id), reader.view.room, `${reader.name} is shown ${id} of its own room`);
        assert.ok(!inLobby.has(id), `${reader.name} is shown ${id}, which was never admitted`);
      }
      if (reader.isHere) this.#compare(reader, view);
    }
  }

  /** The names of the newcomers in the lobby, by participant, as this owner was shown them. */
  lobbyOf(owner: Person): ReadonlyMap<string, string> {
    return this.#read(owner).lobby;
  }

  #read(reader: Person): View {
    const view = this.#views.get(reader) ?? {
      upTo: 0,
      isWelcomed: false,
      roster: new Map(),
      lobby: new Map(),
      changes: new Map(),
    };
    this.#views.set(reader, view);
    for (const message of reader.log.slice(view.upTo)) {
      view.isWelcomed ||= message.type === 'welcome';
      assertAllowed(reader, view, message);
      show(view, message);
      this.#assertNoEarlierName(reader, view);
    }
    view.upTo = reader.log.length;
    return view;
  }

  #assertNoEarlierName(reader: Person, { roster, changes }: View): void {
    for (const [id, { name }] of roster) {
      const change = changeIn(name);
      const latest = changes.get(id) ?? -1;
      if (Number.isNaN(change)) continue;
      const mayGoBack = this.#certainty.isExcused(id) || this.#certainty.isOutdated(id);
      assert.ok(change >= latest || mayGoBack, `${reader.name} is shown "${name}" after #${latest}`);
      changes.set(id, Math.max(change, latest));
    }
  }

  #compare(reader: Person, { roster }: View): void {
    if (!('pod' in reader.line)) return;
    const people = this.#world.pod(reader.line.pod).core.people(reader.view.room);
    const rows = people.flatMap((person) =>
      person.participant === reader.id || person.state === 'waiting'
        ? []
        : [rowOf(person.participant, { ...person, state: person.state })],
    );
    const shown = [...roster].flatMap(([id, row]) => (id === reader.id ? [] : [rowOf(id, row)]));
    assert.deepEqual(shown.toSorted(), rows.toSorted(), `${reader.name} is shown what its pod knows`);
  }
}

/** Was never welcomed: it waits in the lobby, is on its way, or was refused. */
const isNewcomer = (person: Person): boolean => !person.wasWelcomed;

function assertAllowed(reader: Person, { isWelcomed }: View, { type }: CoreMessage): void {
  if (type === 'lobby-joined' || type === 'lobby-left')
    assert.ok(reader.owner, `${reader.name} is no owner and got ${type}`);
  if (!isWelcomed) assert.equal(type, 'lobby-waiting', `${reader.name} was never welcomed`);
}

function show({ roster, lobby, changes }: View, message: CoreMessage): void {
  switch (message.type) {
    case 'welcome':
      roster.clear();
      lobby.clear();
      changes.clear();
      for (const { participant, state, name, media } of message.roster)
        roster.set(participant, { state, name, media });
      for (const { participant, name } of message.lobby ?? []) lobby.set(participant, name);
      return;
    case 'joined': {
      const { participant, state, name, media } = message.member;
      roster.set(participant, { state, name, media });
      return;
    }
    case 'left':
      roster.delete(message.participant);
      return;
    case 'away':
    case 'unreachable':
      change(roster, message.participant, { state: message.type });
      return;
    case 'back':
      change(roster, message.participant, { state: 'here' });
      return;
    case 'changed':
      change(roster, message.participant, { name: message.name, media: message.media });
      return;
    case 'lobby-joined':
      lobby.set(message.waiting.participant, message.waiting.name);
      return;
    case 'lobby-left':
      lobby.delete(message.participant);
      return;
    default:
  }
}

function change(roster: Map<string, Shown>, id: string, changed: Partial<Shown>): void {
  const known = roster.get(id);
  if (known !== undefined) roster.set(id, { ...known, ...changed });
}
