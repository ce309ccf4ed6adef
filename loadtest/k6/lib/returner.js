/** A participant that stays: it sends messages to the next one in its call, and comes back with its token when it loses its socket. */
import { setTimeout } from 'k6/timers';
import { askInTurn, until } from './actions.js';
import { countError, joinMs, joins, undelivered } from './metrics.js';
import { LEAVE, directed, enter, resume } from './parley.js';
import { readLine, writeLine } from './payload.ts';
import {
  answerMs,
  backMs,
  countLoss,
  countRefusal,
  full,
  messageMs,
  messagesReceived,
  messagesSent,
  slots,
  waits,
} from './storm-metrics.js';

/** As the SDK (client/sdk/src/net/backoff.ts): a random time below the first pause, which doubles with each failure. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const WELCOME_TIMEOUT_MS = 10_000;
/** Messages in flight arrive, or are reported, before all leave (DIR-5). */
const QUIET_END_MS = 3000;
/** Codes of a close with which the SDK opens no other socket. */
const FINAL = /^(RESUME_|TICKET_|REPLACED|KICKED|BANNED|ROOM_|NAME_INVALID|ENTER_REQUIRED|LOBBY_|BAD_)/;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const pauseMs = (failures) =>
  Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10));

export class Returner {
  #profile;
  #site;
  #room;
  #name;
  #nextName;
  #socketUrl = '';
  #token = '';
  #me = '';
  #generation = 0;
  #graceMs = 0;
  /** The open socket on which this person is welcome. */
  #socket;
  #isOver = false;
  /** Ids of the others by their names, and how many messages came from each. */
  #others = new Map();
  #received = new Map();
  #sent = 0;
  #left;
  #endAt = Infinity;

  constructor({ profile, vu, site, room }) {
    const { callSize } = profile;
    const nameOf = (seat) => `call ${Math.floor(vu / callSize)} seat ${seat % callSize}`;
    this.#profile = profile;
    this.#site = site;
    this.#room = room;
    this.#name = nameOf(vu);
    this.#nextName = nameOf(vu + 1);
    this.#left = new Promise((resolve) => (this.leave = () => this.#leave(resolve)));
  }

  /** Resolves to whether this person is in the room. One that finds it full is not, which is no error. */
  async join() {
    const begunAt = Date.now();
    for (let failures = 0; ; failures += 1) {
      const answer = await askInTurn(this.#site, this.#room, { name: this.#name }, ({ tookMs }) => {
        slots.add(1);
        answerMs.add(tookMs);
      });
      answerMs.add(answer.tookMs);
      const loss = answer.joined === undefined ? answer : await this.#enter(answer.joined);
      if (loss === undefined) break;
      const { refused, retryAfterMs, detail } = loss;
      if (refused === 'ROOM_FULL') {
        full.add(1);
        return false;
      }
      countRefusal(refused);
      if (retryAfterMs === undefined && refused !== 'NO_ANSWER') {
        this.#fail(refused, detail);
        return false;
      }
      await sleep((retryAfterMs ?? 0) + pauseMs(failures));
    }
    joins.add(1);
    joinMs.add(Date.now() - begunAt);
    return true;
  }

  /** Sends messages until then. */
  async stayUntil(endAt) {
    this.#endAt = endAt;
    const { messageEveryMs } = this.#profile;
    if (messageEveryMs > 0) {
      await sleep(Math.random() * messageEveryMs);
      while (Date.now() < endAt - QUIET_END_MS && !this.#isOver) {
        this.#send();
        await sleep(messageEveryMs);
      }
    }
    await Promise.race([until(endAt), this.#left]);
  }

  #leave(resolve) {
    if (!this.#isOver && this.#socket === undefined) this.#fail('NOT_BACK', 'is not back at the end');
    this.#isOver = true;
    this.#socket?.send(LEAVE);
    this.#socket?.close();
    resolve();
  }

  async #enter({ participant, ticket, socketUrl }) {
    this.#me = participant;
    this.#socketUrl = socketUrl;
    const loss = await this.#open((name, listener) =>
      enter({ socketUrl, ticket }, { ...name, generation: ++this.#generation }, listener),
    );
    return (
      loss && { refused: loss.code, retryAfterMs: FINAL.test(loss.code) ? undefined : 0, detail: loss.detail }
    );
  }

  /** Opens a socket; resolves to why it was not welcomed, or to nothing. */
  #open(connect) {
    return new Promise((resolve) => {
      let isWelcome = false;
      let patientUntil = Date.now() + WELCOME_TIMEOUT_MS;
      const settle = (loss) => {
        resolve(loss);
        resolve = () => undefined;
      };
      const giveUp = () => {
        if (isWelcome) return;
        if (Date.now() < patientUntil) {
          setTimeout(giveUp, patientUntil - Date.now());
          return;
        }
        settle({ code: 'WELCOME_MISSING', detail: 'no welcome' });
        socket.close();
      };
      setTimeout(giveUp, WELCOME_TIMEOUT_MS);
      const listener = {
        onWelcome: (welcome) => {
          isWelcome = true;
          this.#socket = socket;
          this.#onWelcome(welcome);
          settle();
        },
        onNews: (message) => {
          if (message.type === 'wait') {
            waits.add(1);
            patientUntil = Date.now() + message.afterMs + WELCOME_TIMEOUT_MS;
          } else this.#onNews(message, socket);
        },
        onDirected: (from, payload) => this.#onDirected(from, payload),
        onClosed: (loss) => {
          if (!isWelcome) settle(loss);
          else if (socket === this.#socket) void this.#comeBack(loss);
        },
      };
      const socket = connect({ name: this.#name }, listener);
    });
  }

  /** The socket was lost: opens others until this person is welcomed, as the same participant, or its time is over. */
  async #comeBack(first) {
    this.#socket = undefined;
    if (this.#isOver) return;
    const lostAt = Date.now();
    countLoss(first.code);
    let loss = first;
    for (let failures = 0; !this.#isOver; failures += 1) {
      if (FINAL.test(loss.code) || Date.now() - lostAt > this.#graceMs) {
        this.#isOver = true;
        this.#fail(FINAL.test(loss.code) ? loss.code : 'NOT_BACK', loss.detail);
        return;
      }
      // A participant that a draining pod moves has its own slot already.
      if (loss.code !== 'GOAWAY' || failures > 0) await sleep(pauseMs(failures));
      if (this.#isOver) return;
      const credential = { socketUrl: this.#socketUrl, token: this.#token };
      loss = await this.#open((name, listener) =>
        resume(credential, { ...name, generation: ++this.#generation }, listener),
      );
      if (loss === undefined) {
        backMs.add(Date.now() - lostAt);
        return;
      }
      countRefusal(loss.code);
    }
  }

  #onWelcome({ participant, resume: token, graceMs, roster }) {
    if (participant !== this.#me) this.#fail('ANOTHER_PARTICIPANT', `was ${this.#me}, is ${participant}`);
    this.#token = token;
    this.#graceMs = graceMs;
    for (const member of roster) this.#others.set(member.name, member.participant);
  }

  #onNews(message, socket) {
    switch (message.type) {
      case 'joined':
        this.#others.set(message.member.name, message.member.participant);
        return;
      case 'left':
        // All leave at the end; before it, no participant may vanish from a call.
        if (!this.#profile.oneRoom && Date.now() < this.#endAt - 1000) {
          this.#fail('PEER_LEFT', `${message.participant}: ${message.reason}`);
        }
        return;
      case 'resume-token':
        this.#token = message.resume;
        return;
      case 'goaway':
        setTimeout(() => {
          if (socket !== this.#socket) return;
          void this.#comeBack({ code: 'GOAWAY', detail: 'moved' });
          socket.close();
        }, message.afterMs);
        return;
      case 'undelivered':
        undelivered.add(1);
        return;
      case 'error':
        // A fatal one is the code of the close that follows.
        if (!message.fatal) this.#fail(message.code, message.message);
        return;
      default:
    }
  }

  #send() {
    const to = this.#others.get(this.#nextName);
    if (to === undefined || to === this.#me || this.#socket === undefined) return;
    this.#socket.send(directed(to, `m${this.#sent}`, writeLine({ count: this.#sent, sentAt: Date.now() })));
    this.#sent += 1;
    messagesSent.add(1);
  }

  /** Messages of one sender arrive once and in order; while it or this person is away, some do not arrive. */
  #onDirected(from, payload) {
    const line = readLine(payload);
    const due = this.#received.get(from) ?? 0;
    const isExact = this.#profile.goals.messageMs !== undefined;
    if (line === undefined || line.count < due || (isExact && line.count > due)) {
      this.#fail(
        'SIGNAL_SPOILT',
        `number ${due} from ${from} is ${line ? line.count : payload.slice(0, 60)}`,
      );
      return;
    }
    this.#received.set(from, line.count + 1);
    messagesReceived.add(1);
    messageMs.add(Date.now() - line.sentAt);
  }

  #fail(code, detail) {
    countError(code, `${this.#name}: ${detail}`);
  }
}
