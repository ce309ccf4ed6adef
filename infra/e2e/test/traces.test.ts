/** One join through a browser, the edge, a pod and a relay, as one trace in a collector. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startCollector, type CollectedSpan } from '@parley/local/collector';
import { opened } from '../support/opened.ts';
import { connectsBy } from '../support/paths.ts';
import { openSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

/** Each with the span above it. */
const SPANS: readonly (readonly [service: string, name: string, above: string | undefined])[] = [
  ['parley-signaling', 'join', undefined],
  ['parley-signaling', 'POST /v1/rooms/{room}/join', 'join'],
  ['parley-signaling', 'enter', 'POST /v1/rooms/{room}/join'],
  ['parley-signaling', 'room', 'enter'],
  ['parley-signaling', 'issue TURN credentials', 'room'],
  ['parley-signaling', 'assign relay', 'enter'],
  ['parley-relay', 'media session', 'assign relay'],
];

/** No id has their letters. */
const NAMES = ['Ada Lovelace', 'Grace Hopper'];

describe('traces', { timeout: 240_000 }, () => {
  const world = opened(async (keep) => {
    const collector = keep(await startCollector());
    const site = await openSite(
      {
        PARLEY_LIMIT_MESH_PARTICIPANTS: '1',
        PARLEY_LIMIT_TRACE_PERCENT: '100',
        PARLEY_TRACES_URL: collector.url,
        PARLEY_RELAY_MEDIA_TRACES_URL: collector.url,
      },
      keep,
    );
    return { collector, site };
  });

  it('[TRACE-2] [TRACE-3] [TRACE-4] [MED-61] one join is one trace, from the click to the session with the relay', async () => {
    const { collector, site } = world();
    const room = newRoom();
    const people = await Promise.all(
      NAMES.map((name) => Visitor.join(site.browser, { name, web: site.web, room })),
    );
    for (const one of people) await connectsBy(one, 'sfu', 1);
    let traces: CollectedSpan[][] = [];
    await until(
      () => {
        traces = [...Map.groupBy(collector.spans, ({ traceId }) => traceId).values()];
        // Some spans may be there twice, as a client may ask for a relay twice.
        return traces.length === 2 && traces.every(isWhole);
      },
      { withinMs: 30_000, what: () => `spans: ${JSON.stringify(traces)}` },
    );
    for (const spans of traces) isOneJoin(spans);
    const text = JSON.stringify(collector.spans);
    for (const secret of [room, ...NAMES]) assert.ok(!text.includes(secret), `${secret} is in a span`);
  });
});

function isWhole(spans: readonly CollectedSpan[]): boolean {
  const ids = new Set([undefined, ...spans.map(({ spanId }) => spanId)]);
  return (
    SPANS.every(([, name]) => spans.some((span) => span.name === name)) &&
    spans.every(({ parentSpanId }) => ids.has(parentSpanId))
  );
}

function isOneJoin(spans: readonly CollectedSpan[]): void {
  const named = (name: string): CollectedSpan => {
    const found = spans.find((span) => span.name === name);
    assert.ok(found, `${name} is in ${JSON.stringify(spans)}`);
    return found;
  };
  for (const [service, name, above] of SPANS) {
    const span = named(name);
    assert.equal(span.service, service);
    assert.equal(spans.find(({ spanId }) => spanId === span.parentSpanId)?.name, above, name);
    assert.ok(!span.failed && span.endMs >= span.startMs, JSON.stringify(span));
  }
}
