/**
 * The spans of one socket of a traced join: from the `enter` to the welcome, and the first way to media after it. What the client did before is written
 * for it, as it cannot reach the collector. SPEC rules TRACE-2 and TRACE-3.
 */
import type { Enter } from '@parley/protocol/client-messages';
import type { TicketClaims } from '@parley/protocol/tokens';
import type { Span, SpanIds } from '../core/spans.ts';
import { readTraceparent, traceparentOf, type Traces } from './traces.ts';

/** When the message came, and when it was its turn: Unix time in ms. */
export interface EntryTimes {
  readonly arrivedAt: number;
  readonly turnAt: number;
}

interface Begun extends EntryTimes {
  readonly parent: SpanIds;
  readonly participant: string;
  readonly client: { readonly span: string; readonly at: number } | undefined;
}

/** The socket closed before the participant was welcomed or refused. */
export const CLOSED = 'closed';

/** A way to media that is asked for later is not part of the join. */
const MEDIA_WITHIN_MS = 30_000;

export class EntryTrace {
  readonly #traces: Traces;
  /** The span of the client, and when it began. */
  readonly #caller: { readonly span: string; readonly at: number } | undefined;
  readonly #enter: Span;
  #room: Span | undefined;
  #endedAt: number | undefined;

  /** `undefined` where the join was not traced. */
  static of(
    traces: Traces | undefined,
    { sub, trace, caller }: Pick<TicketClaims, 'sub' | 'trace' | 'caller'>,
    { elapsedMs }: Pick<Enter, 'elapsedMs'>,
    times: EntryTimes,
  ): EntryTrace | undefined {
    const parent = readTraceparent(trace);
    if (traces === undefined || parent === undefined) return undefined;
    const isKnown = caller !== undefined && elapsedMs !== undefined;
    const client = isKnown ? { span: caller, at: times.arrivedAt - elapsedMs } : undefined;
    return new EntryTrace(traces, { parent, participant: sub, client, ...times });
  }

  private constructor(traces: Traces, { parent, participant, client, arrivedAt, turnAt }: Begun) {
    this.#traces = traces;
    this.#caller = client;
    const attributes = { 'parley.participant': participant };
    this.#enter = traces.spans.start({ name: 'enter', kind: 'server', parent, at: arrivedAt, attributes });
    if (turnAt > arrivedAt)
      traces.spans
        .start({ name: 'wait for the turn', parent: this.#enter.ids, at: arrivedAt })
        .end(undefined, turnAt);
  }

  /** Of the trace. */
  get id(): string {
    return this.#enter.ids.trace;
  }

  /** The core decides now; in a lobby an owner does. */
  inRoom(): void {
    this.#room ??= this.#traces.spans.start({ name: 'room', parent: this.#enter.ids });
  }

  child(name: string): Span {
    return this.#traces.spans.start({ name, parent: (this.#room ?? this.#enter).ids });
  }

  /** The participant was sent its welcome (no `code`), or was refused. Only the first end counts. */
  end(code?: string): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = Date.now();
    this.#room?.end(code);
    this.#enter.end(code);
    // A client that lost its socket uses the ticket again.
    if (code !== CLOSED) this.#writeCaller(code);
  }

  /** `undefined` where the request for a relay is not part of the join. */
  relay(): Span | undefined {
    const isPart = this.#endedAt !== undefined && Date.now() - this.#endedAt < MEDIA_WITHIN_MS;
    return isPart ? this.#traces.spans.start({ name: 'assign relay', parent: this.#enter.ids }) : undefined;
  }

  #writeCaller(code: string | undefined): void {
    if (this.#caller === undefined) return;
    const span = this.#traces.spans.start({
      name: 'join',
      kind: 'client',
      parent: { trace: this.id },
      ...this.#caller,
      attributes: { 'parley.measured_by': 'client' },
    });
    span.end(code, this.#endedAt);
  }
}

/** The claim of a token that leads to the next span. */
export const traceClaim = (span: Span | undefined): { readonly trace?: string } =>
  span === undefined ? {} : { trace: traceparentOf(span.ids) };
