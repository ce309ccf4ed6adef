/**
 * Several cores joined by a scripted network on fake time: `advance` runs what falls due, in order. A script that is run twice gives the same
 * result, so a failure is told by its seed alone.
 */
import { createCore, type Core } from '../../src/core/core.ts';
import type { Effect } from '../../src/core/effects.ts';
import type { Input } from '../../src/core/input.ts';
import { Agenda } from '../../src/core/agenda.ts';
import type { RoomView } from '@parley/protocol/http';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import { Network, type Sent } from './network.ts';
import { ROOM } from './ad-hoc.ts';
import { Person, type Surroundings } from './person.ts';
import { seeded, type Random } from './random.ts';

/** A socket that the core closes is reported lost a little later, as `ws` does. */
const CLOSE_TAKES_MS = 1;
/** Two pings of 2 s missed, at worst. */
const HALF_OPEN_MS = 6000;

export interface WorldPod {
  readonly name: string;
  readonly boot: number;
  readonly core: Core;
  readonly listening: Set<string>;
  readonly sockets: Set<number>;
  running: boolean;
}

export interface WorldOptions {
  readonly pods?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly seed?: number;
}

export class World implements Surroundings {
  now = 0;
  readonly network: Network;
  readonly limits: Limits;
  readonly random: Random;
  readonly pods = new Map<string, WorldPod>();
  readonly people: Person[] = [];
  /** What becomes of a socket is told to the person that holds it. */
  readonly holders = new Map<number, Person>();
  readonly #agenda = new Agenda();
  #lastSocket = 0;
  #lastBoot = 0;

  constructor({ pods = ['a', 'b', 'c'], limits = {}, seed = 1 }: WorldOptions = {}) {
    this.limits = defaultLimits(limits);
    this.random = seeded(seed);
    this.network = new Network((sent, afterMs) => {
      const receiver = this.pods.get(sent.to);
      // What is on its way to a process dies with it.
      this.#agenda.schedule(this.now + afterMs, () => {
        if (receiver !== undefined && this.pods.get(sent.to) === receiver) this.#arrive(receiver, sent);
      });
    });
    for (const name of pods) this.start(name);
    // Every pod has heard every other one.
    this.advance(3000);
  }

  /** Unix time in ms, as the pods' clocks show it. */
  get clock(): number {
    return 1_700_000_000_000 + this.now;
  }

  start(name: string): WorldPod {
    this.#lastBoot += 1;
    const boot = 1_000_000 * this.#lastBoot;
    const { limits, now } = this;
    const core = createCore({ pod: name, boot, limits, now, random: () => this.random.next() });
    const pod: WorldPod = {
      name,
      boot,
      core,
      listening: new Set(),
      sockets: new Set(),
      running: true,
    };
    this.pods.set(name, pod);
    return pod;
  }

  /** As `kill -9`: no goodbye; its sockets die with it. */
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

  /** A new person, who is not in any room yet. */
  person(name = `Person ${this.people.length + 1}`): Person {
    const person = new Person(this, this.people.length + 1, name);
    this.people.push(person);
    return person;
  }

  /** Somebody new, in the room, on this pod; time passes until it is open. */
  join(pod: string, options: { view?: RoomView; name?: string } = {}): Person {
    const person = this.person(options.name);
    person.join(pod, options.view);
    this.advance(400);
    return person;
  }

  openSocket(pod: string, holder: Person): number {
    this.#lastSocket += 1;
    this.holders.set(this.#lastSocket, holder);
    this.pod(pod).sockets.add(this.#lastSocket);
    return this.#lastSocket;
  }

  /** Its client has gone without a word: pings find that out. */
  leaveHalfOpen(pod: string, socket: number): void {
    const holder = this.pods.get(pod);
    this.#agenda.schedule(this.now + HALF_OPEN_MS, () => {
      if (holder !== undefined && this.pods.get(pod) === holder) this.loseSocket(pod, socket);
    });
  }

  loseSocket(pod: string, socket: number): void {
    if (this.pods.get(pod)?.sockets.delete(socket) === true) this.handle(pod, { type: 'lost', socket });
  }

  handle(name: string, input: Input): void {
    const pod = this.pod(name);
    this.#carryOut(pod, pod.core.handle(input, this.now));
  }

  /** Runs `ms` of fake time. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#nextAt();
      if (next > until) break;
      this.now = Math.max(this.now, next);
      this.#agenda.runDue(this.now);
      // A pod that is started meanwhile has its turn later.
      for (const pod of Array.from(this.pods.values())) {
        if ((pod.core.nextWake() ?? Infinity) <= this.now) this.#carryOut(pod, pod.core.wake(this.now));
      }
    }
    this.now = until;
  }

  /** The roster as a pod has it: `participant state`, sorted. */
  roster(pod: string, room: string = ROOM): string[] {
    const people = this.pod(pod).core.people(room);
    return people.map(({ participant, state }) => `${participant} ${state}`).toSorted();
  }

  #nextAt(): number {
    let next = this.#agenda.next() ?? Infinity;
    for (const { core } of this.pods.values()) next = Math.min(next, core.nextWake() ?? Infinity);
    return next;
  }

  #arrive(pod: WorldPod, { parcel }: Sent): void {
    if (parcel.kind === 'transfer') {
      this.#carryOut(pod, pod.core.handle({ type: 'transfer', transfer: parcel.transfer }, this.now));
      return;
    }
    const { message } = parcel;
    this.#carryOut(pod, pod.core.handle({ type: 'bus', message }, this.now));
  }

  #carryOut(pod: WorldPod, effects: readonly Effect[]): void {
    for (const effect of effects) this.#do(pod, effect);
  }

  #do(pod: WorldPod, effect: Effect): void {
    switch (effect.type) {
      case 'say':
        for (const socket of effect.sockets) this.holders.get(socket)?.hear(socket, effect.message);
        return undefined;
      case 'hand-on':
        this.holders.get(effect.socket)?.take(effect.socket, effect.from, effect.payload);
        return undefined;
      case 'close': {
        const { socket, code } = effect;
        this.holders.get(socket)?.closed(socket, code);
        this.#agenda.schedule(this.now + CLOSE_TAKES_MS, () => {
          if (this.pods.get(pod.name) === pod) this.loseSocket(pod.name, socket);
        });
        return undefined;
      }
      case 'listen':
        pod.listening.add(effect.room);
        return undefined;
      case 'stop-listening':
        pod.listening.delete(effect.room);
        return undefined;
      case 'tell-room':
        for (const other of this.pods.values()) {
          if (other !== pod && other.listening.has(effect.room))
            this.network.send(pod.name, other.name, { kind: 'message', message: effect.message });
        }
        return undefined;
      case 'tell-pod':
        return this.network.send(pod.name, effect.pod, { kind: 'message', message: effect.message });
      case 'beat':
        for (const other of this.pods.keys())
          this.network.send(pod.name, other, { kind: 'message', message: effect.message });
        return undefined;
      case 'transfer':
        return this.network.send(pod.name, effect.pod, { kind: 'transfer', transfer: effect.transfer });
      default:
        return effect satisfies never;
    }
  }
}
