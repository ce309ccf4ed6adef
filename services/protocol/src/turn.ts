/** TURN nodes: their leases on NATS. SPEC rules TURN-5 to TURN-8. */
import { Type, type Static } from 'typebox';
import { RegionId } from './ids.ts';

const TurnUrl = Type.String({
  pattern: '^turns?:[^\\s/?]+(?:\\?transport=(?:udp|tcp))?$',
  maxLength: 256,
});

/** A field that is not known is skipped, so that nodes and pods of two versions understand each other. */
export const TurnNode = Type.Object({
  node: Type.String({ minLength: 1, maxLength: 128, description: 'Its name: the same after a restart.' }),
  epoch: Type.Integer({ minimum: 1, description: 'Which run of it: a later one is greater.' }),
  region: RegionId,
  key: Type.String({
    pattern: '^[A-Za-z0-9_-]{16}$',
    description: 'Which secret it checks credentials with: rule TURN-5.',
  }),
  urls: Type.Array(TurnUrl, { minItems: 1, maxItems: 8, description: 'The ones to try first in front.' }),
  allocations: Type.Integer({ minimum: 0 }),
  capacity: Type.Integer({ minimum: 1, description: 'Allocations it takes.' }),
  draining: Type.Optional(
    Type.Boolean({ description: 'The node is about to end, or coturn has ended: no client is sent to it.' }),
  ),
});
export type TurnNode = Static<typeof TurnNode>;
