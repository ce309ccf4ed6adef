/** All attacks, in the order in which they are run. */
import type { Attack } from '../attack.ts';
import { FLOOD_ATTACKS } from './floods.ts';
import { HTTP_ATTACKS } from './http.ts';
import { IDENTITY_ATTACKS } from './identity.ts';
import { MESSAGE_ATTACKS } from './messages.ts';
import { MODERATION_ATTACKS } from './moderation.ts';
import { NATS_ATTACKS } from './nats.ts';
import { PAGE_ATTACKS } from './pages.ts';
import { RELAY_ATTACKS } from './relays.ts';
import { TICKET_ATTACKS } from './tickets.ts';
import { TURN_ATTACKS } from './turn.ts';

/** What was logged is looked at last. */
export const ATTACKS: readonly Attack[] = [
  ...TICKET_ATTACKS,
  ...MESSAGE_ATTACKS,
  ...IDENTITY_ATTACKS,
  ...MODERATION_ATTACKS,
  ...HTTP_ATTACKS,
  ...PAGE_ATTACKS,
  ...RELAY_ATTACKS,
  ...NATS_ATTACKS,
  ...TURN_ATTACKS,
  ...FLOOD_ATTACKS,
];
