/**
 * Traces of joins, for a collector of OpenTelemetry: which joins are sampled, and how their spans are connected over requests, sockets and tokens. No
 * span contains a room id, a name or an address. SPEC rules TRACE-1 to TRACE-4.
 */
import { randomBytes } from 'node:crypto';
import type { Limits } from '@parley/protocol/limits';
import { AddressBuckets, Bucket } from '../core/buckets.ts';
import type { Attributes, Span, SpanIds, Spans } from '../core/spans.ts';

/** Of `traceparent`, as W3C Trace Context defines it. */
export interface Caller extends SpanIds {
  /** The caller records its own span. */
  readonly records: boolean;
}

const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])(-.*)?$/;

/** `undefined` where the text is not a `traceparent`. Versions after 00 may have more fields, which are ignored. */
export function readTraceparent(text: string | readonly string[] | undefined): Caller | undefined {
  const [, version, trace, span, flags, more] = (typeof text === 'string' && TRACEPARENT.exec(text)) || [];
  if (trace === undefined || span === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { trace, span, records: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Of a sampled trace. */
export const traceparentOf = ({ trace, span }: SpanIds): string => `00-${trace}-${span}-01`;

type TraceLimits = Pick<Limits, 'trace.percent' | 'pod.traces' | 'address.traces'>;

export class Traces {
  readonly spans: Spans;
  readonly #percent: number;
  readonly #budget: Bucket;
  readonly #shares: AddressBuckets;
  readonly #now: () => number;
  /** Joins that were traced, and that were sampled over `pod.traces` or `address.traces`. */
  sampled = 0;
  dropped = 0;

  constructor(limits: TraceLimits, spans: Spans, now: () => number) {
    const perMinute = limits['address.traces'];
    this.spans = spans;
    this.#shares = new AddressBuckets(perMinute / 60, perMinute, now());
    this.#percent = limits['trace.percent'];
    this.#budget = new Bucket(limits['pod.traces'], limits['pod.traces'], now());
    this.#now = now;
  }

  /** The first span of a join at this pod; `undefined` where the join is not traced. Whether the caller records its span changes nothing. */
  join(caller: Caller | undefined, address: string, attributes: Attributes): Span | undefined {
    const parent = caller ?? { trace: randomBytes(16).toString('hex') };
    if (!isSampled(parent.trace, this.#percent)) return undefined;
    const now = this.#now();
    // A network over its share takes nothing from the others.
    if (this.#shares.take(address, now) !== undefined || !this.#budget.take(1, now)) {
      this.dropped += 1;
      return undefined;
    }
    this.sampled += 1;
    return this.spans.start({
      name: 'POST /v1/rooms/{room}/join',
      kind: 'server',
      parent: { trace: parent.trace, ...(caller && { span: caller.span }) },
      attributes: { 'http.request.method': 'POST', 'http.route': '/v1/rooms/{room}/join', ...attributes },
    });
  }
}

/** By the end of the trace id, which is random (W3C Trace Context Level 2): the same on every pod, also where a request is repeated. */
function isSampled(trace: string, percent: number): boolean {
  return Number.parseInt(trace.slice(-13), 16) / 2 ** 52 < percent / 100;
}
