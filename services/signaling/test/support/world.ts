/**
 * Several cores connected by a scripted network in fake time: `advance` runs scheduled events in order. The same script gives the same result, so a
 * seed suffices to reproduce a failure.
 */
import { createChatProofs } from '../../src/adapters/chat-proofs.ts';
import { createCore } from '../../src/core/core.ts';
import type { Effect } from '../../src/core/effects.ts';
import type { Input } from '../../src/core/input.ts';
import { Agenda } from '../../src/core/agenda.ts';
import type { ModerationAction } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import type { VisitorMarks } from '@parley/protocol/tokens';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import { HomeStore, type StoreEffect } from './home-store.ts';
import { Interest } from './interest.ts';
import { Network, type Parcel, type Sent } from './network.ts';
import { ROOM } from './ad-hoc.ts';
import { Person, type Surroundings } from './person.ts';
import { seeded, type Random } from './random.ts';
import { TOGETHER, type Topology } from './topology.ts';
import type { WorldPod } from './world-pod.ts';

/** A socket that the core closes is reported lost a little later, as `ws` does. */
const CLOSE_MS = 1;
/** Two missed pings of 2 s, in the worst case. */
const HALF_OPEN_MS = 6000;
const ANSWER_TIMEOUT_MS = 3500;

export interface WorldOptions {
  readonly pods?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly seed?: number;
  /** Made from the world's own random numbers, so that it follows from the seed. */
  readonly topology?: (random: Random) => Topology;
}

export interface JoinOptions {
  readonly view?: RoomView;
  readonly name?: string;
  readonly owner?: boolean;
  readonly visitor?: VisitorMarks;
}

/** A directed message that a pod wrote to a socket. */
export interface HandedOn {
  readonly to: string;
  readonly text: string;
}

/** The subjects of every pod: its own, and the heartbeats. A room's subject is its id. */
const PRIVATE = 'pod';
const BEATS = 'heartbeats';

export class World implements Surroundings {
  now = 0;
  readonly network: Network;
  readonly limits: Limits;
  readonly random: Random;
  readonly pods = new Map<string, WorldPod>();
  readonly people: Person[] = [];
  /** The events of a socket are sent to the participant that holds it. */
  readonly holders = new Map<number, Person>();
  readonly handedOn: HandedOn[] = [];
  /** The results of owners' requests. */
  readonly moderated: Extract<Effect, { type: 'moderated' }>[] = [];
  readonly listed: Extract<Effect, { type: 'listed' }>[] = [];
  readonly departed: (Extract<Effect, { type: 'departed' }> & { readonly pod: string })[] = [];
  readonly regionsMissing: { readonly pod: string; readonly at: number; readonly some: boolean }[] = [];
  readonly relayMutes: (Extract<Effect, { type: 'relay-mutes' }> & {
    readonly pod: string;
    readonly at: number;
  })[] = [];
  readonly store = new HomeStore();
  /** As of one key set, which all pods have. */
  readonly proofs = createChatProofs({
    active: 'k',
    keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'k', x: 'x', d: 'd' }],
  });
  readonly topology: Topology;
  readonly #heartbeats = new Map<string, number>();
  readonly #interest = new Interest();
  readonly #agenda = new Agenda();
  #lastSocket = 0;
  #lastRequest = 0;
  #lastBoot = 0;

  constructor({ pods = ['a', 'b', 'c'], limits = {}, seed = 1, topology }: WorldOptions = {}) {
    this.limits = defaultLimits(limits);
    this.random = seeded(seed);
    this.topology = topology?.(this.random) ?? TOGETHER;
    this.network = new Network((sent, lateMs) => {
      const receiver = this.pods.get(sent.to);
      const at = this.now + this.topology.latencyMs(sent.from, sent.to) + lateMs;
      // Messages to a process are lost when it dies.
      this.#agenda.schedule(at, () => {
        if (receiver !== undefined && this.pods.get(sent.to) === receiver) this.#arrive(receiver, sent);
      });
    });
    this.store.clock = () => this.clock;
    for (const name of pods) this.start(name);
    // Every pod has received a heartbeat of every other.
    this.advance(3000);
  }

  /** Unix time in ms, as the pods' clocks show it. */
  get clock(): number {
    return 1_700_000_000_000 + this.now;
  }

  start(name: string): WorldPod {
    this.#lastBoot += 1;
    const boot = 1_000_000 * this.#lastBoot;
    const { limits } = this;
    const ahead = this.topology.clockAheadMs();
    const now = this.now + ahead;
    const core = createCore({ pod: name, boot, limits, now, random: () => this.random.next() });
    const pod: WorldPod = {
      name,
      boot,
      core,
      startedAt: this.now,
      ahead,
      listening: new Set(),
      sockets: new Set(),
      running: true,
    };
    this.pods.set(name, pod);
    this.#subscribeAll(pod);
    return pod;
  }

  /** The servers of these pods stop: the pods receive nothing, not even their own heartbeats. */
  stopBus(names: readonly string[]): void {
    for (const name of names) this.network.unplug(name);
  }

  /** Each pod reconnects to its server within `timeoutMs` and subscribes again. */
  startBus(names: readonly string[], timeoutMs: number): void {
    for (const name of names) {
      this.#agenda.schedule(this.now + this.random.between(0, timeoutMs), () => {
        this.network.plug(name);
        const pod = this.pods.get(name);
        if (pod === undefined) return;
        this.#subscribeAll(pod);
        this.handle(name, { type: 'bus-back' });
      });
    }
  }

  /** As `kill -9`: without `bye`; its sockets die with it. */
  kill(name: string): void {
    const pod = this.pod(name);
    pod.running = false;
    this.pods.delete(name);
    for (const socket of pod.sockets) this.holders.get(socket)?.cutOff(socket);
  }

  pod(name: string): WorldPod {
    const pod = this.pods.get(name);
    if (pod === undefined) throw new Error(`no pod ${name} runs`);
    return pod;
  }

  /** A new participant that is in no room yet. */
  person(name = `Person ${this.people.length + 1}`): Person {
    const person = new Person(this, this.people.length + 1, name);
    this.people.push(person);
    return person;
  }

  /** A new participant in the room, on this pod; waits until the room is open. */
  join(pod: string, options: JoinOptions = {}): Person {
    const { name, view, owner = false, visitor } = options;
    const person = this.person(name);
    Object.assign(person, { owner, visitor });
    person.join(pod, view);
    this.advance(400);
    return person;
  }

  /** An owner's request to this pod; returns the request's number. */
  request(pod: string, room: string, action: ModerationAction, who: Person): number {
    this.#lastRequest += 1;
    const ref = this.#lastRequest;
    this.handle(pod, { type: 'moderate', ref, room, action, participant: who.id });
    return ref;
  }

  /** The same, with its result. */
  ask(pod: string, room: string, action: ModerationAction, who: Person): string | undefined {
    const ref = this.request(pod, room, action, who);
    this.advance(ANSWER_TIMEOUT_MS);
    return this.moderated.find((answer) => answer.ref === ref)?.outcome;
  }

  openSocket(pod: string, holder: Person): number {
    this.#lastSocket += 1;
    this.holders.set(this.#lastSocket, holder);
    this.pod(pod).sockets.add(this.#lastSocket);
    return this.#lastSocket;
  }

  /** The client vanished without a close: pings detect it. */
  leaveHalfOpen(pod: string, socket: number): void {
    const holder = this.pods.get(pod);
    this.#agenda.schedule(this.now + HALF_OPEN_MS, () => {
      if (holder !== undefined && this.pods.get(pod) === holder) this.loseSocket(pod, socket);
    });
  }

  loseSocket(pod: string, socket: number, how: { readonly isUnloaded?: boolean } = {}): void {
    if (this.pods.get(pod)?.sockets.delete(socket) === true)
      this.handle(pod, { type: 'lost', socket, ...how });
  }

  chat(name: string, socket: number, { id, text, room }: { id: string; text: string; room: string }): void {
    const holder = this.pod(name).core.holder(socket);
    if (holder === undefined) return;
    const line = { id, from: holder.participant, name: holder.name, text, at: this.clock };
    this.handle(name, { type: 'chat', socket, line: { ...line, proof: this.proofs.sign(room, line) } });
  }

  handle(name: string, input: Input): void {
    const pod = this.pod(name);
    this.#hand(pod, input);
  }

  #hand(pod: WorldPod, input: Input): void {
    this.#carryOut(pod, pod.core.handle(input, this.now + pod.ahead));
  }

  /** Runs `ms` of fake time. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#nextAt();
      if (next > until) break;
      this.now = Math.max(this.now, next);
      this.#agenda.runDue(this.now);
      // A pod that starts meanwhile takes its turn later.
      for (const pod of Array.from(this.pods.values())) {
        if (wakeAt(pod) <= this.now) this.#carryOut(pod, pod.core.wake(this.now + pod.ahead));
      }
    }
    this.now = until;
  }

  /** The roster as a pod has it: `participant state`, sorted. */
  roster(pod: string, room: string = ROOM): string[] {
    const people = this.pod(pod).core.people(room);
    return people.map(({ participant, state }) => `${participant} ${state}`).toSorted();
  }

  /** When the last heartbeat of a pod arrived at this one. */
  lastHeartbeat(from: string, to: string): number {
    return this.#heartbeats.get(`${from}>${to}`) ?? -Infinity;
  }

  #nextAt(): number {
    let next = this.#agenda.next() ?? Infinity;
    for (const pod of this.pods.values()) next = Math.min(next, wakeAt(pod));
    return next;
  }

  #arrive(pod: WorldPod, { parcel }: Sent): void {
    if (parcel.kind === 'transfer') {
      this.#hand(pod, { type: 'transfer', transfer: parcel.transfer });
      return;
    }
    const { message } = parcel;
    if (message.type === 'heartbeat') this.#heartbeats.set(`${message.pod}>${pod.name}`, this.now);
    this.#hand(pod, { type: 'bus', message });
  }

  #carryOut(pod: WorldPod, effects: readonly Effect[]): void {
    for (const effect of effects) this.#do(pod, effect);
  }

  #do(pod: WorldPod, effect: Effect): void {
    switch (effect.type) {
      case 'send':
        for (const socket of effect.sockets) this.holders.get(socket)?.receive(socket, effect.message);
        return undefined;
      case 'deliver':
        return this.#deliver(effect);
      case 'close': {
        const { socket, code } = effect;
        this.holders.get(socket)?.closed(socket, code);
        this.#agenda.schedule(this.now + CLOSE_MS, () => {
          if (this.pods.get(pod.name) === pod) this.loseSocket(pod.name, socket);
        });
        return undefined;
      }
      case 'subscribe':
        pod.listening.add(effect.room);
        return this.#subscribe(pod, effect.room);
      case 'unsubscribe':
        pod.listening.delete(effect.room);
        return this.#interest.unsubscribe(pod.name, effect.room);
      case 'publish-room':
        for (const other of this.pods.values())
          if (other !== pod && other.listening.has(effect.room))
            this.#send(pod, other.name, effect.room, effect);
        return undefined;
      case 'publish-pod':
        return this.#send(pod, effect.pod, PRIVATE, effect);
      case 'heartbeat':
        for (const other of this.pods.keys()) this.#send(pod, other, BEATS, effect);
        return undefined;
      case 'transfer':
        return this.#send(pod, effect.pod, PRIVATE, effect);
      case 'departed':
        this.departed.push({ ...effect, pod: pod.name });
        return undefined;
      case 'relay-mutes':
        this.relayMutes.push({ ...effect, pod: pod.name, at: this.now });
        return undefined;
      case 'regions-missing':
        this.regionsMissing.push({ pod: pod.name, at: this.now, some: effect.some });
        return undefined;
      case 'listed':
        this.listed.push(effect);
        return undefined;
      case 'moderated':
        this.moderated.push(effect);
        return undefined;
      case 'take-seat':
      case 'let-in':
      case 'claim-seat':
      case 'free-seat':
      case 'read-policy':
        return this.#askStore(pod, effect);
      default:
        return effect satisfies never;
    }
  }

  /** The store decides at once; its answer is delayed, and the pod may be gone by then. */
  #askStore(pod: WorldPod, effect: StoreEffect): void {
    const answer = this.store.ask(pod, effect);
    if (answer === undefined) return;
    this.#agenda.schedule(this.now + this.store.durationMs, () => {
      if (this.pods.get(pod.name) === pod) this.#hand(pod, answer);
    });
  }

  #send(from: WorldPod, to: string, subject: string, effect: BusEffect): void {
    const distance = this.topology.isNear(from.name, to) ? 'near' : 'far';
    if (!this.#interest.isKnown(to, subject, distance, this.now)) return;
    const parcel: Parcel =
      effect.type === 'transfer'
        ? { kind: 'transfer', transfer: effect.transfer }
        : { kind: 'message', message: effect.message };
    this.network.send(from.name, to, parcel);
  }

  #deliver({ socket, from, payload }: Extract<Effect, { type: 'deliver' }>): void {
    const holder = this.holders.get(socket);
    if (holder === undefined) return;
    this.handedOn.push({ to: holder.id, text: Buffer.from(payload).toString() });
    holder.take(socket, from, payload);
  }

  #subscribeAll(pod: WorldPod): void {
    for (const subject of [PRIVATE, BEATS, ...pod.listening]) this.#subscribe(pod, subject);
  }

  #subscribe(pod: WorldPod, subject: string): void {
    const farAt = this.now + this.topology.interestMs();
    this.#interest.subscribe(pod.name, subject, { nearAt: this.now, farAt });
  }
}

type BusEffect = Extract<Effect, { type: 'publish-room' | 'publish-pod' | 'heartbeat' | 'transfer' }>;

const wakeAt = ({ core, ahead }: WorldPod): number => (core.nextWake() ?? Infinity) - ahead;
