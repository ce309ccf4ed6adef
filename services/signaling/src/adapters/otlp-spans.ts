/** Spans for a collector of OpenTelemetry, over OTLP/HTTP. A full queue, or a collector that does not answer, loses spans and delays nothing. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';
import type { Attributes, Span, Spans, SpanStart } from '../core/spans.ts';

export interface OtlpSpansOptions {
  /** Of the collector's OTLP/HTTP receiver for traces, as `http://collector:4318/v1/traces`. */
  readonly url: string;
  /** Names this process: `service.name`, `service.instance.id` and the like. */
  readonly resource: Readonly<Record<string, string>>;
  /** The collector refused spans, or was not reached. */
  readonly onFailed: (reason: string) => void;
}

const QUEUE = { maxQueueSize: 4096, scheduledDelayMillis: 1000, exportTimeoutMillis: 5000 };
const CLOSE_MS = 2000;
const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

export function otlpSpans({ url, resource, onFailed }: OtlpSpansOptions): Spans {
  const report = (fault: unknown): void => onFailed(reasonOf(fault));
  const ignore = (): void => {};
  const logger = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const ids = new ChosenIds();
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: QUEUE.exportTimeoutMillis });
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resource),
    // What is not sampled starts no span.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter, ...QUEUE })],
  });
  const tracer = provider.getTracer('parley');
  return {
    start({ name, kind, parent, span, at, attributes = {} }) {
      ids.next = { trace: parent.trace, span };
      const options = {
        ...(kind && { kind: KINDS[kind] }),
        ...(at !== undefined && { startTime: at }),
        attributes: known(attributes),
      };
      const started = tracer.startSpan(name, options, contextOf(parent));
      ids.next = {};
      return opened(started);
    },
    async close() {
      await Promise.race([provider.shutdown().catch(report), pause(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** The ids of the span that starts next: OpenTelemetry has no other way to use those that a client chose. */
class ChosenIds implements IdGenerator {
  next: { readonly trace?: string; readonly span?: string | undefined } = {};
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.next.trace ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next.span ?? this.#random.generateSpanId();
  }
}

/** OpenTelemetry reports an error as JSON with its stack. */
function reasonOf(fault: unknown): string {
  const text = String(fault);
  return /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
}

function contextOf({ trace: traceId, span: spanId }: SpanStart['parent']): typeof ROOT_CONTEXT {
  if (spanId === undefined) return ROOT_CONTEXT;
  const context = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

function opened(span: OtelSpan): Span {
  const { traceId, spanId } = span.spanContext();
  return {
    ids: { trace: traceId, span: spanId },
    set(attributes) {
      span.setAttributes(known(attributes));
    },
    end(code, at) {
      if (code !== undefined) span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
      span.end(at);
    },
  };
}

function known(attributes: Attributes): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
