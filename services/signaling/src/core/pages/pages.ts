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
import { recount } from './counts.ts';
import { requestAllAgain, requestFromRegions } from './section-requests.ts';
import { announceDrain, publishPending, onHeartbeat, startHeartbeats, visitorsNow } from './heartbeats.ts';
import { onAnswer, onTransfer, direct, undelivered } from './directed.ts';
import type { PageEffect, PageInput } from './effects.ts';
import { answerSection, onSection, publishSection } from './sections.ts';
import { leavePage, announce, leave, subscribe } from './memberships.ts';
import type { PagesState, Visitor } from './state.ts';
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
  const state: PagesState = {
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
      onGivenUp: (pending) => undelivered(state, pending, 'timeout'),
    }),
    now,
    ownHeartbeatAt: -Infinity,
    connectedSince: now,
    regionsMissing: false,
    draining: false,
    publishedVisitors: 0,
    sentVisitors: 0,
    sendingVisitors: undefined,
    heartbeatSoon: undefined,
    newcomers: new Set(),
    requesting: undefined,
    sectionSeq: 0,
    visitors: new Map(),
    byId: new Map(),
    swarms: new Map(),
    opened: new Map(),
    peers: new Map(),
    tags: new Map([[tag, pod]]),
  };
  agenda.schedule(now, () => startHeartbeats(state));
  return {
    handle(input, time) {
      state.now = Math.max(state.now, time);
      handle(state, input);
      return state.effects.splice(0);
    },
    wake(time) {
      state.now = Math.max(state.now, time);
      agenda.runDue(state.now);
      return state.effects.splice(0);
    },
    nextWake: () => agenda.next(),
    counts() {
      let held = 0;
      for (const { wholes } of state.swarms.values()) held += wholes.size;
      return { visitors: state.visitors.size, pages: state.swarms.size, held };
    },
  };
}

function handle(state: PagesState, input: PageInput): void {
  switch (input.type) {
    case 'arrive':
      return arrive(state, input);
    case 'lost':
      return leave(state, input.socket);
    case 'subscribe':
      return subscribe(state, input);
    case 'announce':
      return announce(state, input);
    case 'leave':
      return leavePage(state, input);
    case 'directed':
      return direct(state, input);
    case 'transfer':
      return onTransfer(state, input.transfer);
    case 'bus':
      return onBus(state, input.message);
    case 'regions-missing':
      state.regionsMissing = input.some;
      if (!input.some) requestFromRegions(state);
      return recount(state);
    case 'draining':
      return announceDrain(state);
    case 'left':
      return publishPending(state);
    case 'bus-back':
      return requestAllAgain(state, (swarm) => publishSection(state, swarm));
    default:
      return input satisfies never;
  }
}

function arrive(state: PagesState, { socket, network, random }: PageInput & { type: 'arrive' }): void {
  const id = visitorId(state.tag, random);
  const visitor: Visitor = { socket, id, network, memberships: new Map() };
  state.visitors.set(socket, visitor);
  state.byId.set(id, visitor);
  state.effects.push({ type: 'welcome', socket, visitor: id, visitors: visitorsNow(state) });
}

function onBus(state: PagesState, message: PageBusMessage): void {
  switch (message.type) {
    case 'page-heartbeat':
      return onHeartbeat(state, message);
    case 'page-section-request':
      return answerSection(state, message.page, message.pod);
    case 'page-section':
      return onSection(state, message);
    case 'page-directed-ack':
      return onAnswer(state, message);
    default:
      return message satisfies never;
  }
}
