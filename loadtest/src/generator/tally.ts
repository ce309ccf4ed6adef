/** The numbers of sent and received messages and all failures of one run. */

const FAILURES_KEPT = 5;

export class Tally {
  sent = 0;
  received = 0;
  /** Sent to a participant that left before the message arrived. */
  excused = 0;
  /** The server reported that the recipient had left. */
  undelivered = 0;
  failed = 0;
  readonly failures: string[] = [];

  fail(why: string): void {
    this.failed += 1;
    if (this.failures.length < FAILURES_KEPT) this.failures.push(why.slice(0, 300));
  }

  /** All that could be delivered was. */
  get isSettled(): boolean {
    return this.received >= this.sent - this.excused;
  }
}
