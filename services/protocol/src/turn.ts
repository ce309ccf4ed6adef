/** TURN nodes: their leases on NATS. SPEC rules TURN-5 to TURN-8. */
import { Type, type Static } from 'typebox';
import { RegionId } from './ids.ts';

const TurnUrl = Type.String({
  pattern: '^turns?:[^\\s/?]+(?:\\?transport=(?:udp|tcp))?$',
  maxLength: 256,
});

/** Readers ignore unknown fields, so that nodes and pods of two versions work together. */
export const TurnNode = Type.Object({
  node: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Name of the node, which stays the same over restarts.',
  }),
  epoch: Type.Integer({
    minimum: 1,
    description: 'Orders the runs of the process: a later run has a greater epoch.',
  }),
  region: RegionId,
  key: Type.String({
    pattern: '^[A-Za-z0-9_-]{16}$',
    description: 'Identifies the secret of its credentials: rule TURN-5.',
  }),
  urls: Type.Array(TurnUrl, { minItems: 1, maxItems: 8, description: 'In order of preference.' }),
  allocations: Type.Integer({ minimum: 0 }),
  capacity: Type.Integer({ minimum: 1, description: 'Maximum number of allocations.' }),
  draining: Type.Optional(
    Type.Boolean({ description: 'The node is about to end, or coturn has ended: no client is sent to it.' }),
  ),
});
export type TurnNode = Static<typeof TurnNode>;
