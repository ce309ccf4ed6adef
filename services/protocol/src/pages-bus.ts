/** Messages between pods about pages: JSON on core NATS. SPEC rules PAGE-10 to PAGE-13. */
import { Type, type Static } from 'typebox';
import { PodId } from './ids.ts';
import { PageAddress, VisitorId } from './pages.ts';
import type { MessageOf } from './message-of.ts';

const Boot = Type.Integer({ minimum: 1 });
const Count = Type.Integer({ minimum: 0 });

/** Published once a second to all pods. A pod that misses three is dead. */
export const PageHeartbeat = Type.Object({
  type: Type.Literal('page-heartbeat'),
  pod: PodId,
  boot: Boot,
  visitors: Count,
  draining: Type.Optional(
    Type.Boolean({ description: 'Its visitors move to other pods: no count is settled.' }),
  ),
});
/** Published on the page's subject 0, 0.25 and 1 s after the pod's first interest. */
export const PageSectionRequest = Type.Object({
  type: Type.Literal('page-section-request'),
  page: PageAddress,
  pod: PodId,
});
/** A pod's counts of a page: published on the page's subject when they change, or sent to the requesting pod. All zero ends the section. */
export const PageSection = Type.Object({
  type: Type.Literal('page-section'),
  page: PageAddress,
  pod: PodId,
  boot: Boot,
  seq: Count,
  holders: Count,
  readers: Count,
  sample: Type.Array(
    Type.Object({
      visitor: VisitorId,
      whole: Type.Boolean(),
      network: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Equal for holders of one network, within this message only.',
        }),
      ),
    }),
    {
      maxItems: 32,
      description: 'A random sample of the visitors that have chunks, as even over all networks as possible.',
    },
  ),
});
/** Reports the outcome of a directed message for a visitor to the pod of its sender. */
export const PageDirectedAck = Type.Object({
  type: Type.Literal('page-directed-ack'),
  pod: PodId,
  ref: Count,
  outcome: Type.Union([Type.Literal('accepted'), Type.Literal('unknown'), Type.Literal('slow')]),
});

export const PAGE_BUS_MESSAGES = {
  'page-heartbeat': PageHeartbeat,
  'page-section-request': PageSectionRequest,
  'page-section': PageSection,
  'page-directed-ack': PageDirectedAck,
} as const;

export type PageHeartbeat = Static<typeof PageHeartbeat>;
export type PageSectionRequest = Static<typeof PageSectionRequest>;
export type PageSection = Static<typeof PageSection>;
export type PageDirectedAck = Static<typeof PageDirectedAck>;
export type PageBusMessage = MessageOf<typeof PAGE_BUS_MESSAGES>;
