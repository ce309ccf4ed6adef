/** One sentence and a way on for every end a call can have. Every code of the protocol is here: the type demands it, a test checks it. */
import type { Code } from '@parley/protocol/codes';
import type { EndReason } from '@parley/sdk/call';

export type NextStep =
  'rejoin' | 'retry' | 'knock' | 'as-guest' | 'use-here' | 'new-room' | 'home' | 'reload';

export interface Ending {
  readonly title: string;
  readonly body: string;
  /** The first is the main button. */
  readonly next: readonly NextStep[];
  /** Tries again by itself when the waiting time is over or the network is back. */
  readonly auto: boolean;
  readonly mood: 'goodbye' | 'wait' | 'closed' | 'fault';
}

const WAIT = { next: ['retry', 'home'], auto: true, mood: 'wait' } as const;
const CLOSED = { next: ['new-room', 'home'], auto: false, mood: 'closed' } as const;
const FAULT = { next: ['rejoin', 'home'], auto: false, mood: 'fault' } as const;
/** Codes that answer a request of another page, or of a client that is not this one. */
const OURS = {
  title: 'Something went wrong here',
  body: 'This page and the service misunderstood each other. Joining again usually helps; if not, load the page anew.',
  next: ['rejoin', 'reload'],
  auto: false,
  mood: 'fault',
} as const;
const AGAIN = {
  title: 'That took too long',
  body: 'The invitation this page held is no longer good. Join again for a new one.',
  ...FAULT,
} as const;

export const ENDINGS: Readonly<Record<EndReason, Ending>> = {
  left: {
    title: 'You left the call',
    body: 'The room is still there. You can go back as long as you have its link.',
    next: ['rejoin', 'new-room'],
    auto: false,
    mood: 'goodbye',
  },
  unreachable: {
    title: 'Parley cannot be reached',
    body: 'Check your connection. This page goes on trying and takes you in as soon as it gets through.',
    ...WAIT,
  },

  ROOM_FULL: {
    title: 'This room is full',
    body: 'Everyone it has space for is already there. Try again when somebody has left.',
    next: ['retry', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  ROOM_LOCKED: {
    title: 'This room is locked',
    body: 'Its owner lets nobody in at the moment. Ask them to unlock it, then try again.',
    next: ['retry', 'home'],
    auto: false,
    mood: 'closed',
  },
  BANNED: {
    title: 'You cannot join this room',
    body: 'Its owner keeps your device or your network out. If that is a mistake, ask them to lift the ban, then try again.',
    next: ['new-room', 'retry', 'home'],
    auto: false,
    mood: 'closed',
  },
  KICKED: {
    title: 'You were removed from the call',
    body: 'The owner of the room ended the call for you. You may join again if they agree.',
    next: ['rejoin', 'home'],
    auto: false,
    mood: 'closed',
  },
  LOBBY_DENIED: {
    title: 'You were not let in',
    body: 'The owner of the room did not admit you this time. You may ask once more, or talk in a room of your own.',
    next: ['new-room', 'knock', 'home'],
    auto: false,
    mood: 'closed',
  },
  LOBBY_TIMEOUT: {
    title: 'Nobody came to the door',
    body: 'The owner did not answer for a long time. They may be away: ask again, or tell them another way.',
    next: ['knock', 'home'],
    auto: false,
    mood: 'wait',
  },
  LOBBY_FULL: {
    title: 'There is a queue at the door',
    body: 'Too many people wait to be let in. You take a place by yourself as soon as one is free.',
    ...WAIT,
  },
  ROOM_DELETED: {
    title: 'This room was deleted',
    body: 'Its owner closed it for everyone. The link no longer leads anywhere.',
    ...CLOSED,
  },
  ROOM_NOT_FOUND: {
    title: 'There is no such room',
    body: 'It may have been deleted, it ended as nobody used it for long, or the link has a typo. Ask for the link again, or open a new room.',
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
    title: 'The call goes on in another tab',
    body: 'You opened this room somewhere else, so this page stopped. Nobody noticed.',
    next: ['use-here', 'home'],
    auto: false,
    mood: 'goodbye',
  },

  ROOM_HOME_UNREACHABLE: {
    title: 'The room’s home is out of reach',
    body: 'This room is kept in a region that does not answer right now. The call starts by itself when it does.',
    ...WAIT,
  },
  TOO_MANY_JOINS: {
    title: 'A moment, please',
    body: 'Many people are joining from your network at once. You are taken in automatically.',
    ...WAIT,
  },
  TOO_MANY_SOCKETS: {
    title: 'Too many calls from your network',
    body: 'Close calls you no longer need. This page tries again by itself.',
    ...WAIT,
  },
  POD_FULL: {
    title: 'It is busy here',
    body: 'All places are taken for the moment. You are taken in as soon as one is free.',
    ...WAIT,
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'The service is just starting. You are taken in automatically.',
    ...WAIT,
  },
  STORE_UNAVAILABLE: {
    title: 'Named rooms are not available right now',
    body: 'The list of rooms does not answer. You are taken in as soon as it does.',
    ...WAIT,
  },
  GO_ELSEWHERE: {
    title: 'Moving the call',
    body: 'This server is being replaced. You are taken to another one.',
    ...WAIT,
  },
  RATE_LIMITED: {
    title: 'That was a lot at once',
    body: 'This page sent too much too fast and was cut off. Join again in a moment.',
    ...FAULT,
  },
  MESSAGE_TIMEOUT: {
    title: 'Your connection could not keep up',
    body: 'A message from this page took too long to arrive. Join again in a moment.',
    ...FAULT,
  },
  INCOMPLETE_BYTES: {
    title: 'Your network sends too much at once',
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
    body: 'Your place in the call was given up. Join again to come back.',
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
    body: 'The key kept in this browser does not open this room any more. You can still join as a guest; the old key is then forgotten.',
    next: ['as-guest', 'home'],
    auto: false,
    mood: 'closed',
  },
  ROOM_EXISTS: {
    title: 'This name is taken',
    body: 'There is already a room of this name here. Choose another one.',
    next: ['home'],
    auto: false,
    mood: 'closed',
  },
  TOO_MANY_ROOMS: {
    title: 'Too many new rooms',
    body: 'Many rooms were made from your network. Wait a while, or open a room without a name.',
    next: ['new-room', 'home'],
    auto: false,
    mood: 'wait',
  },
  REGION_FULL: {
    title: 'No more named rooms here',
    body: 'This installation keeps as many named rooms as it can. Open a room without a name.',
    next: ['new-room', 'home'],
    auto: false,
    mood: 'closed',
  },
  TOO_MANY_REQUESTS: {
    title: 'That was a lot at once',
    body: 'Too much was asked from your network in a short time. Wait a minute, then go on.',
    ...FAULT,
  },
  PARTICIPANT_NOT_FOUND: {
    title: 'They are no longer here',
    body: 'Whoever was meant has left the room in the meantime.',
    ...FAULT,
  },
  BAN_NOT_FOUND: {
    title: 'This ban was lifted already',
    body: 'Whoever it kept out may join again.',
    ...FAULT,
  },
  TOO_MANY_BANS: {
    title: 'This room has too many bans',
    body: 'It cannot keep any more. Lift one before you add another.',
    ...FAULT,
  },
  LIVE_OFF: {
    title: 'Live broadcasts are off here',
    body: 'Whoever runs this Parley has not opened them to everybody.',
    next: ['home', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  PAGE_INVALID: OURS,
  PAGE_TOO_LARGE: OURS,
  PAGES_TOO_LARGE: OURS,
  TOO_MANY_PAGES: OURS,
  PAGES_TOO_FAST: OURS,
  ICE_TOO_FAST: OURS,
  NO_RELAY: {
    title: 'No relay has room',
    body: 'Every media relay is full or away at the moment. It is worth trying again soon.',
    ...WAIT,
  },
  NOT_FOUND: {
    title: 'There is nothing here',
    body: 'The address leads nowhere. Perhaps a part of it was lost on the way.',
    next: ['home', 'new-room'],
    auto: false,
    mood: 'closed',
  },
  CHAT_TOO_LONG: { ...OURS, title: 'That message is too long', body: 'Shorten it and send it again.' },
  CHAT_TOO_FAST: {
    ...OURS,
    title: 'Too many messages at once',
    body: 'Wait a second and send it again.',
  },
  BAD_REQUEST: OURS,
  REQUEST_TIMEOUT: OURS,
  BODY_TOO_LARGE: OURS,
  HEAD_TOO_LARGE: OURS,
  ENTER_FIRST: OURS,
  ALREADY_ENTERED: OURS,
  BAD_MESSAGE: OURS,
  UNKNOWN_TYPE: OURS,
  BAD_FRAME: OURS,
  BAD_ENCODING: OURS,
  MESSAGE_TOO_LARGE: OURS,
  TOO_MANY_FRAGMENTS: OURS,
  INTERNAL: {
    title: 'That was our fault',
    body: 'The service had a problem. Joining again usually helps.',
    ...FAULT,
  },
};

/** One line for a form or a notice. */
export function sentence(reason: Code | 'unreachable'): string {
  const { title, body } = ENDINGS[reason];
  return `${title}. ${body}`;
}
