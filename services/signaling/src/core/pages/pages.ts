/**
 * The core of pages of one pod: handles one input, then drains the effects. It has no I/O, clock or randomness of its own. SPEC rules PAGE-5 to
 * PAGE-13.
 */
import type { PodId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { PageBusMessage } from '@parley/protocol/pages-bus';
import { visitorId } from '@parley/protocol/pages';
import { Agenda } from '../agenda.ts';
import { Transfers } from '../transfers.ts';
import { askAgainForAll } from './section-requests.ts';
import { announceLeaving, announceLeft, onHeartbeat, startBeating, visitorsNow } from './heartbeats.ts';
import { onAnswer, onTransfer, direct, undelivered } from './directed.ts';
import type { PageEffect, PageInput } from './effects.ts';
import { answerSection, onSection, say } from './sections.ts';
import { drop, hold, leave, want } from './memberships.ts';
import type { Desk, Visitor } from './state.ts';
import { tagOf } from './tag.ts';

export interface PagesOptions {
  readonly pod: PodId;
  /** Larger than in any earlier process of this pod, for example its start in Unix ms. */
  readonly boot: number;
  readonly limits: Limits;
  readonly now: number;
  readonly random: () => number;
}

export interface Pages {
  /** Handles one input at a time `now` (ms, monotonic) and returns the effects, in order. */
  handle(input: PageInput, now: number): readonly PageEffect[];
  /** Runs the scheduled actions that are due. */
  wake(now: number): readonly PageEffect[];
  /** When `wake` must be called next. */
  nextWake(): number | undefined;
  counts(): { readonly visitors: number; readonly pages: number; readonly held: number };
}

export function createPages({ pod, boot, limits, now, random }: PagesOptions): Pages {
  const agenda = new Agenda();
  const tag = tagOf(pod);
  const desk: Desk = {
    pod,
    boot,
    tag,
    limits,
    unsettledUntil: now + limits['page.settleTime'],
    random,
    agenda,
    effects: [],
    transfers: new Transfers({
      boot,
      limits,
      agenda,
      onGivenUp: (pending) => undelivered(desk, pending, 'timeout'),
    }),
    now,
    ownBeatAt: -Infinity,
    hearingSince: now,
    draining: false,
    saidVisitors: 0,
    toldVisitors: 0,
    telling: undefined,
    beatingSoon: undefined,
    newcomers: new Set(),
    asking: undefined,
    sectionSeq: 0,
    visitors: new Map(),
    byId: new Map(),
    swarms: new Map(),
    opened: new Map(),
    peers: new Map(),
    tags: new Map([[tag, pod]]),
  };
  agenda.schedule(now, () => startBeating(desk));
  return {
    handle(input, time) {
      desk.now = Math.max(desk.now, time);
      handle(desk, input);
      return desk.effects.splice(0);
    },
    wake(time) {
      desk.now = Math.max(desk.now, time);
      agenda.runDue(desk.now);
      return desk.effects.splice(0);
    },
    nextWake: () => agenda.next(),
    counts() {
      let held = 0;
      for (const { wholes } of desk.swarms.values()) held += wholes.size;
      return { visitors: desk.visitors.size, pages: desk.swarms.size, held };
    },
  };
}

function handle(desk: Desk, input: PageInput): void {
  switch (input.type) {
    case 'arrive':
      return arrive(desk, input);
    case 'lost':
      return leave(desk, input.socket);
    case 'subscribe':
      return want(desk, input);
    case 'announce':
      return hold(desk, input);
    case 'leave':
      return drop(desk, input);
    case 'directed':
      return direct(desk, input);
    case 'transfer':
      return onTransfer(desk, input.transfer);
    case 'bus':
      return onBus(desk, input.message);
    case 'draining':
      return announceLeaving(desk);
    case 'left':
      return announceLeft(desk);
    case 'bus-back':
      return askAgainForAll(desk, (swarm) => say(desk, swarm));
    default:
      return input satisfies never;
  }
}

function arrive(desk: Desk, { socket, network, random }: PageInput & { type: 'arrive' }): void {
  const id = visitorId(desk.tag, random);
  const visitor: Visitor = { socket, id, network, stakes: new Map() };
  desk.visitors.set(socket, visitor);
  desk.byId.set(id, visitor);
  desk.effects.push({ type: 'welcome', socket, visitor: id, visitors: visitorsNow(desk) });
}

function onBus(desk: Desk, message: PageBusMessage): void {
  switch (message.type) {
    case 'page-heartbeat':
      return onHeartbeat(desk, message);
    case 'page-section-request':
      return answerSection(desk, message.page, message.pod);
    case 'page-section':
      return onSection(desk, message);
    case 'page-directed-ack':
      return onAnswer(desk, message);
    default:
      return message satisfies never;
  }
}
