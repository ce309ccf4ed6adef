/** The page cores of several pods, connected by a bus in fake time that delays and loses messages. The same seed gives the same run. */
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import type { Holders, PageAddress, PageCount, VisitMessage, VisitorId } from '@parley/protocol/pages';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import { Agenda } from '../../src/core/agenda.ts';
import type { PageEffect, PageInput } from '../../src/core/pages/effects.ts';
import { createPages, type Pages } from '../../src/core/pages/pages.ts';
import { seeded, type Random } from './random.ts';

const LATENCY_MS = 5;

interface WorldPod {
  readonly name: string;
  readonly core: Pages;
  readonly listening: Set<PageAddress>;
}

/** A visitor with a socket, and what it was last sent. */
export class Tab {
  readonly pod: string;
  readonly socket: number;
  id: VisitorId = '';
  visitors = 0;
  readonly messages: VisitMessage[] = [];
  readonly refused: string[] = [];
  /** Set while it reads nothing. */
  slow = false;
  readonly directed: { readonly from: string; readonly text: string }[] = [];

  constructor(pod: string, socket: number) {
    this.pod = pod;
    this.socket = socket;
  }

  count(page: PageAddress): PageCount | undefined {
    return this.messages.findLast((one): one is PageCount => one.type === 'count' && one.page === page);
  }

  given(page: PageAddress): readonly Holders['holders'][number][] {
    return this.messages.flatMap((one) => (one.type === 'holders' && one.page === page ? one.holders : []));
  }
}

export class PageWorld {
  now = 0;
  readonly limits: Limits;
  readonly random: Random;
  readonly pods = new Map<string, WorldPod>();
  readonly tabs = new Map<number, Tab>();
  /** The probability that a message between pods is lost, from 0 to 1. */
  loses = 0;
  sent = 0;
  /** The number of the one message that is lost. */
  drops = 0;
  /** Called with every message to a visitor. */
  onMessage: (tab: Tab, message: VisitMessage) => void = () => undefined;
  /** Pods without a connection to the bus. */
  readonly #unplugged = new Set<string>();
  readonly #cut = new Set<string>();
  readonly #agenda = new Agenda();
  #lastSocket = 0;
  #lastBoot = 0;

  constructor({
    pods = ['a', 'b'],
    limits = {},
    seed = 1,
  }: { readonly pods?: readonly string[]; readonly limits?: Partial<Limits>; readonly seed?: number } = {}) {
    this.limits = defaultLimits(limits);
    this.random = seeded(seed);
    for (const pod of pods) this.start(pod);
    this.advance(1000 + this.limits['page.settleTime']);
  }

  start(name: string): void {
    this.#lastBoot += 1;
    const { limits, now, random } = this;
    const core = createPages({ pod: name, boot: this.#lastBoot, limits, now, random: () => random.next() });
    this.pods.set(name, { name, core, listening: new Set() });
    this.#wake(name);
  }

  /** Its sockets end with it, and it publishes nothing about that. */
  kill(name: string): Tab[] {
    this.pods.delete(name);
    this.#unplugged.delete(name);
    const lost = [...this.tabs.values()].filter(({ pod }) => pod === name);
    for (const { socket } of lost) this.tabs.delete(socket);
    return lost;
  }

  unplug(name: string): void {
    this.#unplugged.add(name);
  }

  plug(name: string): void {
    this.#unplugged.delete(name);
    this.#handle(name, { type: 'bus-back' });
  }

  /** No message passes between the two. */
  cut(one: string, other: string): void {
    for (const link of [`${one}>${other}`, `${other}>${one}`]) this.#cut.add(link);
  }

  heal(one: string, other: string): void {
    for (const link of [`${one}>${other}`, `${other}>${one}`]) this.#cut.delete(link);
  }

  isUnplugged(name: string): boolean {
    return this.#unplugged.has(name);
  }

  /** The roster of that pod finds that a region may be cut off, or that none is any more. */
  setRegionsMissing(name: string, some: boolean): void {
    this.#handle(name, { type: 'regions-missing', some });
  }

  /** Its visitors are about to be sent to other pods. */
  announceLeaving(name: string): void {
    this.#handle(name, { type: 'draining' });
  }

  /** The visitors are gone, and the pod ends. */
  announceLeft(name: string): void {
    this.#handle(name, { type: 'left' });
  }

  arrive(pod: string, network = 'somewhere'): Tab {
    this.#lastSocket += 1;
    const tab = new Tab(pod, this.#lastSocket);
    this.tabs.set(tab.socket, tab);
    const random = Uint8Array.from({ length: 9 }, () => Math.floor(this.random.next() * 256));
    this.#handle(pod, { type: 'arrive', socket: tab.socket, network, random });
    return tab;
  }

  subscribe(tab: Tab, page: PageAddress, exclude: VisitorId[] = []): void {
    this.#handle(tab.pod, { type: 'subscribe', socket: tab.socket, page, exclude });
  }

  announce(tab: Tab, page: PageAddress, { whole = true, bytes = 1000 } = {}): void {
    this.#handle(tab.pod, { type: 'announce', socket: tab.socket, page, whole, bytes });
  }

  drop(tab: Tab, page: PageAddress): void {
    this.#handle(tab.pod, { type: 'leave', socket: tab.socket, page });
  }

  leave(tab: Tab): void {
    this.tabs.delete(tab.socket);
    this.#handle(tab.pod, { type: 'lost', socket: tab.socket });
  }

  sendDirected(tab: Tab, to: VisitorId, text: string): void {
    const payload = new TextEncoder().encode(text);
    this.#handle(tab.pod, { type: 'directed', socket: tab.socket, to, id: text, payload, binary: false });
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (let next = this.#agenda.next(); next !== undefined && next <= until; next = this.#agenda.next()) {
      this.now = Math.max(this.now, next);
      this.#agenda.runDue(this.now);
    }
    this.now = until;
  }

  #handle(pod: string, input: PageInput): void {
    const found = this.pods.get(pod);
    if (found === undefined) return;
    this.#carryOut(found, found.core.handle(input, this.now));
    this.#wake(pod);
  }

  #wake(pod: string): void {
    const found = this.pods.get(pod);
    const next = found?.core.nextWake();
    if (found === undefined || next === undefined) return;
    this.#agenda.schedule(Math.max(next, this.now), () => {
      if (this.pods.get(pod) !== found) return;
      this.#carryOut(found, found.core.wake(this.now));
      this.#wake(pod);
    });
  }

  #carryOut(pod: WorldPod, effects: readonly PageEffect[]): void {
    for (const effect of effects) this.#do(pod, effect);
  }

  #do(pod: WorldPod, effect: PageEffect): void {
    switch (effect.type) {
      case 'send':
        for (const socket of effect.sockets) this.#deliver(socket, effect.message);
        return;
      case 'welcome': {
        const tab = this.tabs.get(effect.socket);
        if (tab !== undefined) Object.assign(tab, { id: effect.visitor, visitors: effect.visitors });
        return;
      }
      case 'reject':
        this.tabs.get(effect.socket)?.refused.push(effect.code);
        return;
      case 'deliver': {
        const tab = this.tabs.get(effect.socket);
        const isDelivered = tab !== undefined && !tab.slow;
        if (isDelivered)
          tab.directed.push({ from: effect.from, text: new TextDecoder().decode(effect.payload) });
        const next = isDelivered ? effect.delivered : effect.slow;
        if (next !== undefined) this.#do(pod, next);
        return;
      }
      case 'subscribe':
        pod.listening.add(effect.page);
        return;
      case 'unsubscribe':
        pod.listening.delete(effect.page);
        return;
      case 'publish-page':
        return this.#send(pod, effect.message, (other) => other.listening.has(effect.page));
      case 'publish-pod':
        return this.#send(pod, effect.message, ({ name }) => name === effect.pod);
      case 'heartbeat':
        return this.#send(pod, effect.message, () => true);
      case 'transfer':
        return this.#later(pod, effect.pod, () =>
          this.#handle(effect.pod, { type: 'transfer', transfer: effect.transfer }),
        );
      default:
        return effect satisfies never;
    }
  }

  #deliver(socket: number, message: VisitMessage): void {
    const tab = this.tabs.get(socket);
    if (tab === undefined) return;
    tab.messages.push(message);
    if (message.type === 'visitors') tab.visitors = message.visitors;
    this.onMessage(tab, message);
  }

  #send(from: WorldPod, message: PageBusMessage, isReceiver: (pod: WorldPod) => boolean): void {
    for (const to of this.pods.keys())
      this.#later(from, to, (pod) => {
        if (isReceiver(pod)) this.#handle(to, { type: 'bus', message });
      });
  }

  #later(from: WorldPod, to: string, act: (pod: WorldPod) => void): void {
    this.sent += 1;
    const isCut = this.#unplugged.has(from.name) || this.#cut.has(`${from.name}>${to}`);
    if (isCut || this.sent === this.drops || this.random.next() < this.loses) return;
    const found = this.pods.get(to);
    this.#agenda.schedule(this.now + LATENCY_MS, () => {
      if (found !== undefined && this.pods.get(to) === found && !this.#unplugged.has(to)) act(found);
    });
  }
}
