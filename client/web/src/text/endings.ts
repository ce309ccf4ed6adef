/** A sentence and next steps for every end of a call. The type requires every code of the protocol, and a test checks it. */
import type { Code } from '@parley/protocol/codes';
import type { EndReason } from '@parley/sdk/call';

export type NextStep =
  'rejoin' | 'retry' | 'ask-again' | 'as-guest' | 'use-here' | 'new-room' | 'home' | 'reload';

export interface Ending {
  readonly title: string;
  readonly body: string;
  /** The first is the main button. */
  readonly next: readonly NextStep[];
  /** Retries automatically after the waiting time or when the network returns. */
  readonly auto: boolean;
  readonly mood: 'goodbye' | 'wait' | 'closed' | 'fault';
}

const WAIT = { next: ['retry', 'home'], auto: true, mood: 'wait' } as const;
const CLOSED = { next: ['new-room', 'home'], auto: false, mood: 'closed' } as const;
const FAULT = { next: ['rejoin', 'home'], auto: false, mood: 'fault' } as const;
/** Codes that answer requests of another page or of another kind of client. */
const OURS = {
  title: 'Something went wrong',
  body: 'The service could not process a message from this page. Join again. If that does not help, reload the page.',
  next: ['rejoin', 'reload'],
  auto: false,
  mood: 'fault',
} as const;
const AGAIN = {
  title: 'That took too long',
  body: 'Your admission to the call has expired. Join again to get a new one.',
  ...FAULT,
} as const;

export const ENDINGS: Readonly<Record<EndReason, Ending>> = {
  left: {
    title: 'You left the call',
    body: 'The room is still there. You can return with its link.',
    next: ['rejoin', 'new-room'],
    auto: false,
    mood: 'goodbye',
  },
  unreachable: {
    title: 'Parley cannot be reached',
    body: 'Check your connection. This page keeps trying and joins the call as soon as it can.',
    ...WAIT,
  },

  ROOM_FULL: {
    title: 'This room is full',
    body: 'It has reached its maximum number of people. Try again when someone has left.',
    next: ['retry', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  ROOM_LOCKED: {
    title: 'This room is locked',
    body: 'An owner has locked it. Ask them to unlock it, then try again.',
    next: ['retry', 'home'],
    auto: false,
    mood: 'closed',
  },
  BANNED: {
    title: 'You cannot join this room',
    body: 'An owner banned your device or your network. If that is a mistake, ask them to lift the ban, then try again.',
    next: ['new-room', 'retry', 'home'],
    auto: false,
    mood: 'closed',
  },
  KICKED: {
    title: 'You were removed from the call',
    body: 'An owner removed you. You can ask to come back, and an owner decides.',
    next: ['ask-again', 'home'],
    auto: false,
    mood: 'closed',
  },
  CALL_ENDED: {
    title: 'The call was ended',
    body: 'An owner of the room ended it for everyone. The room is still there: you can open it again, unless an owner locked it.',
    next: ['rejoin', 'home'],
    auto: false,
    mood: 'goodbye',
  },
  LOBBY_DENIED: {
    title: 'You were not let in',
    body: 'The owner of the room did not admit you. You can ask again, or open a room of your own.',
    next: ['new-room', 'ask-again', 'home'],
    auto: false,
    mood: 'closed',
  },
  LOBBY_TIMEOUT: {
    title: 'The owner did not answer',
    body: 'You waited for a long time. The owner may be away: ask again, or contact them another way.',
    next: ['ask-again', 'home'],
    auto: false,
    mood: 'wait',
  },
  LOBBY_FULL: {
    title: 'The lobby is full',
    body: 'Too many people are waiting to be let in. This page tries again automatically.',
    ...WAIT,
  },
  ROOM_DELETED: {
    title: 'This room was deleted',
    body: 'The owner deleted it for everyone. The link no longer works.',
    ...CLOSED,
  },
  ROOM_NOT_FOUND: {
    title: 'This room does not exist',
    body: 'It was deleted, it expired after a long time without use, or the link has a typo. Ask for the link again, or open a new room.',
    ...CLOSED,
  },
  ROOM_INVALID: {
    title: 'This link is not complete',
    body: 'A part of it seems to be missing. Ask for it again, or copy the whole link.',
    next: ['home', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  REPLACED: {
    title: 'The call continues in another tab',
    body: 'You opened this room somewhere else, so this page left the call. The call continues there.',
    next: ['use-here', 'home'],
    auto: false,
    mood: 'goodbye',
  },

  ROOM_HOME_UNREACHABLE: {
    title: 'The room’s region is unreachable',
    body: 'This room is stored in a region that does not answer right now. The call starts automatically when it does.',
    ...WAIT,
  },
  TOO_MANY_JOINS: {
    title: 'Too many joins',
    body: 'Many people are joining from your network at once. You join automatically.',
    ...WAIT,
  },
  TOO_MANY_SOCKETS: {
    title: 'Too many calls from your network',
    body: 'Close calls you no longer need. This page tries again automatically.',
    ...WAIT,
  },
  POD_FULL: {
    title: 'The server is full',
    body: 'You join automatically as soon as there is a free place.',
    ...WAIT,
  },
  BUSY: {
    title: 'Many people are arriving',
    body: 'The service lets them in one after another. You join automatically.',
    ...WAIT,
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'The service is starting. You join automatically.',
    ...WAIT,
  },
  STORE_UNAVAILABLE: {
    title: 'Named rooms are not available right now',
    body: 'The list of rooms does not answer. You join as soon as it does.',
    ...WAIT,
  },
  GOAWAY: {
    title: 'Moving the call',
    body: 'This server is shutting down. You are moved to another one.',
    ...WAIT,
  },
  RATE_LIMITED: {
    title: 'Too many requests',
    body: 'This page sent too many messages and was disconnected. Join again in a moment.',
    ...FAULT,
  },
  MESSAGE_TIMEOUT: {
    title: 'Your connection could not keep up',
    body: 'A message from this page took too long to arrive. Join again in a moment.',
    ...FAULT,
  },
  REASSEMBLY_LIMIT_EXCEEDED: {
    title: 'Your messages did not arrive',
    body: 'Messages from your network did not arrive completely. Join again in a moment.',
    ...FAULT,
  },
  SLOW_CONSUMER: {
    title: 'Your connection could not keep up',
    body: 'It fell too far behind the call. Join again, perhaps without the camera.',
    ...FAULT,
  },

  TICKET_INVALID: AGAIN,
  TICKET_EXPIRED: AGAIN,
  TICKET_USED: AGAIN,
  RESUME_INVALID: AGAIN,
  RESUME_EXPIRED: {
    title: 'You were away for too long',
    body: 'You were removed from the call because you were disconnected for too long. Join again to come back.',
    ...FAULT,
  },
  ENTER_TIMEOUT: AGAIN,
  NAME_INVALID: {
    title: 'This name cannot be used',
    body: 'It is empty, too long or has characters that cannot be shown. Choose another one.',
    next: ['rejoin', 'home'],
    auto: false,
    mood: 'closed',
  },
  ORIGIN_DENIED: {
    title: 'This address may not use Parley',
    body: 'The service does not accept calls from this page. Open Parley at its own address.',
    next: ['home'],
    auto: false,
    mood: 'closed',
  },
  OWNER_KEY_INVALID: {
    title: 'This is not the room’s owner key',
    body: 'The key stored in this browser is no longer valid for this room. You can join as a guest; the stored key is then deleted.',
    next: ['as-guest', 'home'],
    auto: false,
    mood: 'closed',
  },
  ROOM_EXISTS: {
    title: 'This name is taken',
    body: 'A room with this name already exists. Choose another one.',
    next: ['home'],
    auto: false,
    mood: 'closed',
  },
  TOO_MANY_ROOMS: {
    title: 'Too many new rooms',
    body: 'Many rooms were created from your network. Wait some minutes, or open a room without a name.',
    next: ['new-room', 'home'],
    auto: false,
    mood: 'wait',
  },
  REGION_FULL: {
    title: 'No more named rooms here',
    body: 'This installation has reached its limit of named rooms. Open a room without a name.',
    next: ['new-room', 'home'],
    auto: false,
    mood: 'closed',
  },
  TOO_MANY_REQUESTS: {
    title: 'Too many requests',
    body: 'Your network sent too many requests in a short time. Wait a minute, then continue.',
    ...FAULT,
  },
  PARTICIPANT_NOT_FOUND: {
    title: 'This person already left',
    body: 'The person left the room before your request arrived.',
    ...FAULT,
  },
  BAN_NOT_FOUND: {
    title: 'This ban was already lifted',
    body: 'This person may join again.',
    ...FAULT,
  },
  TOO_MANY_CO_OWNERS: {
    title: 'This call has too many co-owners',
    body: 'Remove one before you add another.',
    ...FAULT,
  },
  TOO_MANY_MUTED: {
    title: 'Too many people are muted one by one',
    body: 'Mute everyone, or let some people speak first.',
    ...FAULT,
  },
  TOO_MANY_BANS: {
    title: 'This room has too many bans',
    body: 'Lift one before you add another.',
    ...FAULT,
  },
  LIVE_DISABLED: {
    title: 'Live broadcasts are disabled here',
    body: 'The operator of this service has disabled them.',
    next: ['home', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  PAGE_INVALID: OURS,
  PAGE_TOO_LARGE: OURS,
  PAGES_TOO_LARGE: OURS,
  TOO_MANY_PAGES: OURS,
  TOO_MANY_PAGE_REQUESTS: OURS,
  TOO_MANY_ICE_REQUESTS: OURS,
  TOO_MANY_REPORTS: OURS,
  RELAY_UNAVAILABLE: {
    title: 'No relay is available',
    body: 'All media relays are full or unreachable at the moment. Try again soon.',
    ...WAIT,
  },
  NOT_FOUND: {
    title: 'Page not found',
    body: 'This address does not exist. A part of it may be missing.',
    next: ['home', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  CHAT_TOO_LONG: { ...OURS, title: 'That message is too long', body: 'Shorten it and send it again.' },
  TOO_MANY_CHAT_LINES: {
    ...OURS,
    title: 'Too many messages at once',
    body: 'Wait a second and send it again.',
  },
  BAD_REQUEST: OURS,
  REQUEST_TIMEOUT: OURS,
  BODY_TOO_LARGE: OURS,
  HEADERS_TOO_LARGE: OURS,
  ENTER_REQUIRED: OURS,
  ALREADY_ENTERED: OURS,
  BAD_MESSAGE: OURS,
  UNKNOWN_TYPE: OURS,
  BAD_FRAME: OURS,
  BAD_ENCODING: OURS,
  MESSAGE_TOO_LARGE: OURS,
  TOO_MANY_FRAGMENTS: OURS,
  INTERNAL: {
    title: 'The service had a problem',
    body: 'Join again. If that does not help, try again later.',
    ...FAULT,
  },
};

/** One line for a form or a notice. */
export function sentence(reason: Code | 'unreachable'): string {
  const { title, body } = ENDINGS[reason];
  return `${title}. ${body}`;
}
