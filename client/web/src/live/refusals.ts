/** The sentences for a missing connection to a media relay, and when the page retries. */
import type { DisconnectReason } from '../streams/disconnect-reasons.ts';

const LATER = { again: 'later' } as const;
const NEVER = { again: 'never' } as const;

export const REFUSALS: Readonly<Record<string, DisconnectReason>> = {
  RELAY_UNAVAILABLE: {
    title: 'No relay is available',
    body: 'All media relays are full or unreachable. The page connects as soon as one is available.',
    ...LATER,
  },
  TOO_MANY_JOINS: {
    title: 'Too many requests',
    body: 'Your network sent too many requests. The page tries again automatically.',
    ...LATER,
  },
  BUSY: {
    title: 'Many people are arriving',
    body: 'The service lets them in one after another. The page continues automatically.',
    ...LATER,
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'The service is starting. The page continues automatically.',
    ...LATER,
  },
  LIVE_DISABLED: {
    title: 'There is no live video here',
    body: 'The operator of this service has disabled it.',
    ...NEVER,
  },
  NAME_INVALID: {
    title: 'This is not a name for a broadcast',
    body: 'The service does not accept it. Check the address, or choose another name.',
    ...NEVER,
  },
  ORIGIN_DENIED: {
    title: 'This address may not show live video',
    body: 'The service does not accept pages from here. Open the broadcast at its own address.',
    ...NEVER,
  },
  NOT_FOUND: {
    title: 'There is no live video here',
    body: 'The service does not support it. It may be an older version.',
    ...NEVER,
  },
};

/** The service did not answer. */
export const UNREACHABLE: DisconnectReason = {
  title: 'Parley cannot be reached',
  body: 'Check your connection. The page keeps trying.',
  ...LATER,
};
/** Two publishers of one name would be two sources of one broadcast (MED-26). */
export const TAKEN: DisconnectReason = {
  title: 'This name is on air already',
  body: 'Another device or tab publishes under it, and viewers would see one or the other. Choose another name, or go live anyway if it is your own.',
  ...NEVER,
};
/** The service answered, but its relay did not. */
export const RELAY_SILENT: DisconnectReason = {
  title: 'The media relay does not answer',
  body: 'The page requests another one.',
  ...LATER,
};
/** A connection was lost: for viewers and for publishers. */
export const LOST: Readonly<Record<'watch' | 'publish', DisconnectReason>> = {
  watch: {
    title: 'The connection was lost',
    body: 'The page reconnects automatically.',
    ...LATER,
  },
  publish: {
    title: 'The connection was lost',
    body: 'The page goes live again automatically. Until then, no one sees you.',
    ...LATER,
  },
};
/** The browser has no WebCodecs, or the page is not served by https. */
export const UNSUPPORTED: DisconnectReason = {
  title: 'This browser does not support live video here',
  body: 'Open the page with https in a recent Chrome, Edge, Firefox or Safari.',
  ...NEVER,
};
/** A part of the page did not load or failed. */
export const BROKEN: DisconnectReason = {
  title: 'A part of this page did not load',
  body: 'Check your connection, then load the page again.',
  ...NEVER,
};

/** The sentence for a code of the service. An unknown code may be temporary. */
export function refusalOf(code: string): DisconnectReason {
  return (Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined) ?? UNREACHABLE;
}
