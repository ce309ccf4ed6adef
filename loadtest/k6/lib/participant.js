/** A participant: keeps the roster, exchanges offers, answers and candidates with all others of the room, and checks all messages. */
import { setTimeout } from 'k6/timers';
import {
  countError,
  joinMs,
  joinToCallMs,
  joinToRosterMs,
  joins,
  signalMs,
  signalsReceived,
  signalsSent,
  undelivered,
  undeliveredToLeavers,
} from './metrics.js';
import { LEAVE, directed, enter, limit } from './parley.js';
import { SIGNALS, readSignal, writeSignal } from './payload.ts';
import { othersAt, visitsOf } from './plan.ts';

/** DIR-5 and BUS-4: a lost message is repaired or reported within this time. */
const SETTLED_MS = limit('directed.timeout') + 500;
const WELCOME_TIMEOUT_MS = 10_000;

/** Display names identify a visit, so that other participants can look it up in the plan. */
export const nameOf = ({ seat, number }) => `seat ${seat} visit ${number}`;

export class Participant {
  #profile;
  #visit;
  #startAt;
  #begunAt;
  #socket;
  #me;
  #isOver = false;
  #welcomed;
  #patientUntil = 0;
  #peers = new Map();
  #missing;

  /** Enters with the ticket. `startAt`: when the herd began; `begunAt`: when this person wished to join. */
  constructor({ profile, visit, startAt, begunAt, joined, pod }) {
    this.#profile = profile;
    this.#visit = visit;
    this.#startAt = startAt;
    this.#begunAt = begunAt;
    this.#me = joined.participant;
    this.#missing = new Set(othersAt(profile, visit, visit.startMs).map(nameOf));
    this.#socket = enter(
      joined,
      { name: nameOf(visit), pod },
      {
        onWelcome: ({ roster }) => this.#onWelcome(roster),
        onNews: (message) => this.#onNews(message),
        onDirected: (from, payload) => this.#onDirected(from, payload),
        onClosed: ({ code, detail }) => this.#onClosed(code, detail),
      },
    );
  }

  /** Resolves to whether this person is in the room. */
  welcome() {
    return new Promise((resolve) => {
      this.#welcomed = resolve;
      const giveUp = () => {
        if (this.#welcomed === undefined) return;
        if (Date.now() < this.#patientUntil) {
          setTimeout(giveUp, this.#patientUntil - Date.now());
          return;
        }
        this.#fail('WELCOME_MISSING', `no welcome within ${WELCOME_TIMEOUT_MS} ms`);
        this.#isOver = true;
        this.#socket.close();
        this.#settleWelcome(false);
      };
      this.#patientUntil = Date.now() + WELCOME_TIMEOUT_MS;
      setTimeout(giveUp, WELCOME_TIMEOUT_MS);
    });
  }

  /** Looks back at the visit, and goes. */
  leave() {
    if (this.#isOver) return;
    this.#forgiveLeavers();
    const short = this.#now() - (this.#begunAt - this.#startAt) < SETTLED_MS;
    if (this.#missing.size > 0 && !short) {
      this.#fail('ROSTER_INCOMPLETE', `never saw ${[...this.#missing].join(', ')}`);
    }
    for (const peer of this.#peers.values()) {
      if (!peer.isGone && !this.#hasLeft(peer.name)) this.#requireAll(peer);
    }
    this.#isOver = true;
    this.#socket.send(LEAVE);
    this.#socket.close();
  }

  #onWelcome(roster) {
    joinMs.add(Date.now() - this.#begunAt);
    joins.add(1);
    for (const member of roster) {
      if (member.participant !== this.#me) this.#meet(member);
    }
    for (const peer of this.#peers.values()) peer.isCallee = true;
    if (this.#missing.size === 0) joinToRosterMs.add(Date.now() - this.#begunAt);
    this.#settleWelcome(true);
  }

  #onNews(message) {
    switch (message.type) {
      case 'joined':
        return this.#meet(message.member);
      case 'left':
        return this.#part(message.participant);
      case 'undelivered':
        return this.#onUndelivered(message);
      case 'error':
        return this.#fail(message.code, message.message);
      case 'wait':
        // A busy pod: the welcome follows.
        this.#patientUntil = Date.now() + message.afterMs + WELCOME_TIMEOUT_MS;
        return undefined;
      case 'away':
      case 'back':
      case 'changed':
        return undefined;
      default:
        return this.#fail('UNKNOWN', `a message of type ${message.type}`);
    }
  }

  /** A participant is in the roster. As in the SDK the larger id of two makes the offer, so that there is one. */
  #meet({ participant, name }) {
    const peer = this.#peerOf(participant);
    peer.name = name;
    if (this.#missing.delete(name) && this.#missing.size === 0 && this.#welcomed === undefined) {
      joinToRosterMs.add(Date.now() - this.#begunAt);
    }
    if (this.#me > participant) this.#describe(peer, 'offer');
  }

  #part(participant) {
    // Kept: between pods, news and directed messages take different ways and may overtake each other.
    const peer = this.#peerOf(participant);
    this.#requireAll(peer);
    peer.isGone = true;
  }

  #onDirected(from, payload) {
    const now = Date.now();
    const peer = this.#peerOf(from);
    const signal = readSignal(payload);
    if (signal === undefined || signal.count !== peer.received) {
      this.#fail(
        'SIGNAL_SPOILT',
        `number ${peer.received} from ${from} is ${signal ? signal.count : payload.slice(0, 60)}`,
      );
      return;
    }
    peer.received += 1;
    signalsReceived.add(1);
    signalMs.add(now - signal.sentAt);
    if (signal.kind === 'offer') this.#describe(peer, 'answer');
    if (peer.isCallee && peer.received === SIGNALS) this.#completeIfAll(now);
  }

  #onUndelivered({ to, id, reason }) {
    if (this.#hasLeft(this.#peerOf(to).name)) undeliveredToLeavers.add(1);
    else {
      undelivered.add(1);
      console.error(`undelivered: ${id} to ${to}, ${reason}`);
    }
  }

  #onClosed(code, detail) {
    if (this.#isOver) return;
    this.#fail(code, `the socket closed: ${detail}`);
    this.#isOver = true;
    this.#settleWelcome(false);
  }

  #settleWelcome(isIn) {
    const settle = this.#welcomed;
    this.#welcomed = undefined;
    settle?.(isIn);
  }

  #peerOf(participant) {
    let peer = this.#peers.get(participant);
    if (peer === undefined) {
      peer = {
        participant,
        name: '',
        received: 0,
        sent: 0,
        since: Date.now(),
        isCallee: false,
        isGone: false,
      };
      this.#peers.set(participant, peer);
    }
    return peer;
  }

  #describe(peer, kind) {
    this.#send(peer, kind);
    while (peer.sent < SIGNALS) this.#send(peer, 'candidate');
  }

  #send(peer, kind) {
    const payload = writeSignal({ kind, count: peer.sent, sentAt: Date.now() });
    this.#socket.send(directed(peer.participant, `m${peer.sent}`, payload));
    peer.sent += 1;
    signalsSent.add(1);
  }

  /** The call is whole when everyone found in the room has answered. */
  #completeIfAll(now) {
    const callees = [...this.#peers.values()].filter(({ isCallee }) => isCallee);
    if (callees.every(({ received }) => received === SIGNALS)) joinToCallMs.add(now - this.#begunAt);
  }

  #requireAll(peer) {
    if (peer.received === SIGNALS || Date.now() - peer.since < SETTLED_MS) return;
    this.#fail('SIGNAL_MISSING', `${peer.received} of ${SIGNALS} messages from ${peer.name}`);
  }

  /** Those who have gone before they were seen are not missing. */
  #forgiveLeavers() {
    for (const name of this.#missing) {
      if (this.#hasLeft(name)) this.#missing.delete(name);
    }
  }

  /** By the plan, which no participant leaves early. */
  #hasLeft(name) {
    const [, seat, number] = /^seat (\d+) visit (\d+)$/.exec(name) ?? [];
    if (seat === undefined) return false;
    const visit = visitsOf(this.#profile, this.#visit.call, Number(seat))[Number(number)];
    return visit !== undefined && visit.endMs <= this.#now();
  }

  #now() {
    return Date.now() - this.#startAt;
  }

  #fail(code, detail) {
    countError(code, `${nameOf(this.#visit)} of call ${this.#visit.call}: ${detail}`);
  }
}
