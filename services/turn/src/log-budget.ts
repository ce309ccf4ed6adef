/**
 * Passes on the lines of a log within a budget and counts the others. coturn writes a line for every refused request, and clients without a
 * credential can send those: without a limit its log fills a disk.
 */

/** An incident writes fewer lines; lines above this rate repeat earlier ones. 5 lines of 130 bytes a second are 56 MB a day. */
const LINES_PER_SECOND = 5;
/** coturn writes about 90 lines when it starts. */
const BURST = 200;
/** The rest of a longer line is dropped. coturn's longest lines name a user and a reason. */
const LINE_BYTES = 1000;
/** Suppressed lines are reported at most this often. */
const REPORT_EVERY_MS = 10_000;

const NEWLINE = 10;

export interface LogBudgetOptions {
  /** Receives one line, without its end. */
  readonly write: (line: string) => void;
  /** Receives the number of lines that were suppressed since the last report. */
  readonly report: (lines: number) => void;
}

export class LogBudget {
  readonly #options: LogBudgetOptions;
  #tokens = BURST;
  #at = Date.now();
  /** The beginning of an incomplete line, at most `LINE_BYTES` of it. */
  #partial: Buffer = Buffer.alloc(0);
  #suppressed = 0;
  #unreported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LogBudgetOptions) {
    this.#options = options;
  }

  /** Lines that were dropped since the start. */
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

  /** The log ended: writes the incomplete line. */
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
    // A clock that was set back adds nothing.
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
