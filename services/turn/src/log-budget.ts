/**
 * Passes the lines of a log on as long as they are within a budget, and counts the others. coturn writes a line for every refused request,
 * and strangers can send those without a credential: unbounded, its log fills a disk.
 */

/** An incident writes fewer: what is over this repeats what was written before. 5 lines of 130 bytes a second are 56 MB a day. */
const LINES_PER_SECOND = 5;
/** coturn writes some 90 lines when it starts. */
const BURST = 200;
/** What is over this of one line is dropped: coturn's longest name a user and a reason. */
const LINE_BYTES = 1000;
/** How often at most the suppressed lines are reported. */
const REPORT_EVERY_MS = 10_000;

const NEWLINE = 10;

export interface LogBudgetOptions {
  /** Takes one line, without its end. */
  readonly write: (line: string) => void;
  /** Takes how many lines were suppressed since the last report. */
  readonly report: (lines: number) => void;
}

export class LogBudget {
  readonly #options: LogBudgetOptions;
  #tokens = BURST;
  #at = Date.now();
  /** The beginning of a line whose end has not come, at most `LINE_BYTES` of it. */
  #partial: Buffer = Buffer.alloc(0);
  #suppressed = 0;
  #unreported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
  }

  /** Lines that were not passed on, since the start. */
  get suppressed(): number {
    return this.#suppressed;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#line(chunk.subarray(from, end));
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** The log ended: writes what is left of it. */
  end(): void {
    if (this.#partial.length > 0) this.#line(Buffer.alloc(0));
    clearTimeout(this.#timer);
    this.#report();
  }

  #keep(rest: Buffer): void {
    if (rest.length === 0) return;
    const room = LINE_BYTES - this.#partial.length;
    if (room > 0) this.#partial = Buffer.concat([this.#partial, rest.subarray(0, room)]);
  }

  #line(rest: Buffer): void {
    const begun = this.#partial;
    if (begun.length > 0) this.#partial = Buffer.alloc(0);
    if (!this.#take()) {
      this.#suppress();
      return;
    }
    const line = begun.length > 0 ? Buffer.concat([begun, rest]) : rest;
    this.#options.write(line.toString('utf8', 0, LINE_BYTES));
  }

  #take(): boolean {
    const now = Date.now();
    // A clock that was set back gives nothing.
    const passed = Math.max(0, now - this.#at);
    this.#tokens = Math.min(BURST, this.#tokens + (passed / 1000) * LINES_PER_SECOND);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #suppress(): void {
    this.#suppressed += 1;
    this.#unreported += 1;
    this.#timer ??= setTimeout(() => this.#report(), REPORT_EVERY_MS).unref();
  }

  #report(): void {
    this.#timer = undefined;
    if (this.#unreported > 0) this.#options.report(this.#unreported);
    this.#unreported = 0;
  }
}
