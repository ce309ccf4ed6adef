/**
 * Four participants in one room. Each sends 25 directed messages per second to the next, as if they were frames; one after the
 * other sends a line of chat each second. All of them see whether anything happens to one of the four.
 */
import { Participant } from '../participant.ts';
import { Series } from './series.ts';

const FRAME_EVERY_MS = 40;
const CHAT_EVERY_MS = 1000;
/** As large as a small frame of video. */
const PAYLOAD = 'f'.repeat(1000);
const NAMES = ['Ada', 'Ben', 'Cleo', 'Dan'];

export class Ring {
  sent = 0;
  /** Milliseconds between two frames of one participant. */
  readonly gaps = new Series();
  /** Milliseconds from sending a line until all others have it. */
  readonly chat = new Series();
  readonly disturbances: string[] = [];
  readonly #people: readonly Participant[];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #lastFrame = new Map<string, number>();
  readonly #read = new Map<Participant, number>();
  readonly #lines = new Map<string, { readonly at: number; readonly by: Set<Participant> }>();

  private constructor(people: readonly Participant[]) {
    this.#people = people;
    const ids = new Set(people.map(({ id }) => id));
    for (const person of people) {
      this.#read.set(person, person.log.length);
      person.onDirected = (from) => this.#frame(from);
      this.#watch(person, ids);
    }
    this.#timers.push(setInterval(() => this.#sendFrames(), FRAME_EVERY_MS));
    this.#timers.push(setInterval(() => this.#sendLine(), CHAT_EVERY_MS));
  }

  static async open(edge: string, room: string, from: readonly string[]): Promise<Ring> {
    const people: Participant[] = [];
    for (const [index, source] of from.entries())
      people.push(
        // On both pods, so that what goes between them is measured too.
        await Participant.enter(edge, room, {
          from: source,
          name: NAMES[index] ?? 'Eve',
          affinity: index % 2 === 0 ? 'a' : 'b',
        }),
      );
    const [first] = people;
    if (first !== undefined)
      await first.changes.until(
        'all participants are in the room',
        () => first.log.filter(({ type }) => type === 'joined').length >= people.length - 1,
        10_000,
      );
    return new Ring(people);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    const now = performance.now();
    // A stream that had stopped for good would show no gap.
    for (const last of this.#lastFrame.values()) this.gaps.add(now - last);
    for (const { at } of this.#lines.values()) this.chat.add(now - at);
    if (this.#lastFrame.size < this.#people.length)
      this.disturbances.push('a participant got no frame at all');
  }

  #sendFrames(): void {
    for (const [index, person] of this.#people.entries()) {
      const next = this.#people[(index + 1) % this.#people.length];
      if (next === undefined || person.closed !== undefined) continue;
      this.sent += 1;
      person.sendDirected(next.id, `f${this.sent}`, PAYLOAD);
    }
  }

  #frame(from: string): void {
    const now = performance.now();
    const last = this.#lastFrame.get(from);
    if (last !== undefined) this.gaps.add(now - last);
    this.#lastFrame.set(from, now);
  }

  #sendLine(): void {
    const number = this.chat.count + this.#lines.size;
    const sender = this.#people[number % this.#people.length];
    if (sender === undefined || sender.closed !== undefined) return;
    const id = `line-${String(number).padStart(8, '0')}`;
    const others = this.#people.filter((person) => person !== sender);
    this.#lines.set(id, { at: performance.now(), by: new Set(others) });
    sender.send({ type: 'chat', id, text: `line ${number}` });
  }

  /** Reads the new messages of a participant after each event. */
  #watch(person: Participant, ids: ReadonlySet<string>): void {
    const look = (): undefined => {
      if (person.closed !== undefined) this.#disturbed(`${person.id} was closed with ${person.closed}`);
      const from = this.#read.get(person) ?? 0;
      for (const message of person.log.slice(from)) {
        if (message.type === 'chat') this.#onChatLine(person, message.line.id);
        else if (message.type === 'error') this.#disturbed(`error ${message.code}`);
        else if ((message.type === 'away' || message.type === 'left') && ids.has(message.participant))
          this.#disturbed(`${message.participant} is ${message.type}`);
      }
      // The welcome stays: the rest has been read.
      person.log.splice(from);
      return undefined;
    };
    person.changes.until('the end of the call', look, 2 ** 31 - 1).catch(() => {});
  }

  #onChatLine(person: Participant, id: string): void {
    const line = this.#lines.get(id);
    if (line === undefined) return;
    line.by.delete(person);
    if (line.by.size > 0) return;
    this.chat.add(performance.now() - line.at);
    this.#lines.delete(id);
  }

  #disturbed(what: string): void {
    if (this.disturbances.length < 20) this.disturbances.push(what);
  }
}
