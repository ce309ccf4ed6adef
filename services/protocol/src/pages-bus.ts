/** What pods tell each other about pages: JSON on NATS core. SPEC rules PAGE-10 to PAGE-13. */
import { Type, type Static } from 'typebox';
import { PodId } from './ids.ts';
import { PageAddress, VisitorId } from './pages.ts';

const Boot = Type.Integer({ minimum: 1 });
const Count = Type.Integer({ minimum: 0 });

/** Once a second, on the subject of all pods. A pod that misses three is dead. */
export const PageBeat = Type.Object({
  type: Type.Literal('page-beat'),
  pod: PodId,
  boot: Boot,
  visitors: Count,
  leaving: Type.Optional(
    Type.Boolean({ description: 'Its visitors are on their way to other pods: nothing is settled.' }),
  ),
});
/** To the page's subject at 0, 0.25 and 1 s after first interest. */
export const PageAsk = Type.Object({ type: Type.Literal('page-ask'), page: PageAddress, pod: PodId });
/** What a pod has of a page: to the page's subject as it changes, or to the pod that asked. All zero: nothing any more. */
export const PageSection = Type.Object({
  type: Type.Literal('page-section'),
  page: PageAddress,
  pod: PodId,
  boot: Boot,
  seq: Count,
  holders: Count,
  readers: Count,
  some: Type.Array(
    Type.Object({
      visitor: VisitorId,
      whole: Type.Boolean(),
      net: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'The same for those of one network, in this message alone.',
        }),
      ),
    }),
    {
      maxItems: 32,
      description: 'Of those that can give something, by chance, as evenly of all networks as there are.',
    },
  ),
});
/** Whether a directed message for a visitor was taken: to the pod of its sender. */
export const PageAnswer = Type.Object({
  type: Type.Literal('page-answer'),
  pod: PodId,
  ref: Count,
  outcome: Type.Union([Type.Literal('taken'), Type.Literal('unknown'), Type.Literal('slow')]),
});

export const PAGE_BUS_MESSAGES = {
  'page-beat': PageBeat,
  'page-ask': PageAsk,
  'page-section': PageSection,
  'page-answer': PageAnswer,
} as const;

export type PageBeat = Static<typeof PageBeat>;
export type PageAsk = Static<typeof PageAsk>;
export type PageSection = Static<typeof PageSection>;
export type PageAnswer = Static<typeof PageAnswer>;
export type PageBusMessage = PageBeat | PageAsk | PageSection | PageAnswer;
