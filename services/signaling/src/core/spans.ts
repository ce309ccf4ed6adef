/** **A port**: the spans of traced joins. SPEC rules TRACE-1 to TRACE-3. */

/** Lower-case hexadecimal: 32 and 16 digits. */
export interface SpanIds {
  readonly trace: string;
  readonly span: string;
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  readonly kind?: 'client' | 'server';
  /** Of the trace. Without `span` the span is the first of it. */
  readonly parent: { readonly trace: string; readonly span?: string };
  /** Chosen by the client whose span this is. */
  readonly span?: string;
  /** Unix time in ms; now where it is not given. */
  readonly at?: number;
  readonly attributes?: Attributes;
}

export interface Span {
  readonly ids: SpanIds;
  set(attributes: Attributes): void;
  /** `code`: why it failed. `at`: Unix time in ms; now where it is not given. */
  end(code?: string, at?: number): void;
}

/** Sends spans to a collector. Never throws, and never waits for the collector. */
export interface Spans {
  start(start: SpanStart): Span;
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>;
}
