/** The one table of stable codes, with HTTP status and WebSocket close code. SPEC rules ERR-1 to ERR-4. */

export interface CodeEntry {
  /** HTTP status of an answer of /v1 that carries the code. */
  readonly http: number | null;
  /** WebSocket close code; `null` where the socket stays open. */
  readonly close: number | null;
  /** The same request may succeed later; HTTP answers carry Retry-After. */
  readonly retry: boolean;
  /** A client whose socket was closed with it connects again by itself: the cause may pass although nobody acts. */
  readonly reconnect?: true;
  readonly meaning: string;
}

const define = <Names extends string>(table: Record<Names, CodeEntry>): Record<Names, CodeEntry> => table;

export const CODES = define({
  BAD_REQUEST: {
    http: 400,
    close: null,
    retry: false,
    meaning: 'The request is not of the form this address takes.',
  },
  BODY_TOO_LARGE: { http: 413, close: null, retry: false, meaning: 'The request body is over the limit.' },
  HEAD_TOO_LARGE: {
    http: 431,
    close: null,
    retry: false,
    meaning: "The request's head is larger than the edge or the pod takes.",
  },
  REQUEST_TIMEOUT: {
    http: 408,
    close: null,
    retry: true,
    meaning: 'The request was not complete in time.',
  },
  NOT_FOUND: { http: 404, close: null, retry: false, meaning: 'There is nothing at this address.' },
  ORIGIN_DENIED: {
    http: 403,
    close: null,
    retry: false,
    meaning: 'Pages of this origin may not use this installation.',
  },
  ROOM_INVALID: { http: 400, close: 4404, retry: false, meaning: 'This is no room id.' },
  ROOM_NOT_FOUND: { http: 404, close: 4404, retry: false, meaning: 'No such named room.' },
  ROOM_EXISTS: {
    http: 409,
    close: null,
    retry: false,
    meaning: 'A room of this name exists in this region.',
  },
  REGION_FULL: {
    http: 503,
    close: null,
    retry: true,
    meaning: 'This region keeps as many named rooms as it may have.',
  },
  ROOM_DELETED: { http: 410, close: 4410, retry: false, meaning: 'The owner deleted this room.' },
  ROOM_FULL: {
    http: 409,
    close: 4409,
    retry: true,
    meaning: 'The room has as many participants as it may have.',
  },
  LOBBY_FULL: {
    http: null,
    close: 4417,
    retry: true,
    meaning: 'Too many people wait for this room already.',
  },
  LOBBY_TIMEOUT: { http: null, close: 4418, retry: true, meaning: 'Nobody answered at the door.' },
  PARTICIPANT_NOT_FOUND: {
    http: 404,
    close: null,
    retry: false,
    meaning: 'Nobody of this id is in the room or waits for it.',
  },
  BAN_NOT_FOUND: { http: 404, close: null, retry: false, meaning: 'The room has no such ban.' },
  TOO_MANY_BANS: {
    http: 409,
    close: null,
    retry: false,
    meaning: 'The room has as many bans as it may have: lift one first.',
  },
  TOO_MANY_REQUESTS: {
    http: 429,
    close: 4431,
    retry: true,
    reconnect: true,
    meaning: 'Too many requests from this address, or of this participant.',
  },
  ROOM_LOCKED: { http: 423, close: 4423, retry: true, meaning: 'The owner locked the room.' },
  ROOM_HOME_UNREACHABLE: {
    http: 503,
    close: 4503,
    retry: true,
    reconnect: true,
    meaning: "The room's home region cannot be reached.",
  },
  OWNER_KEY_INVALID: { http: 403, close: null, retry: false, meaning: 'The owner key is missing or wrong.' },
  TOO_MANY_JOINS: { http: 429, close: null, retry: true, meaning: 'Too many joins from this address.' },
  TOO_MANY_ROOMS: {
    http: 429,
    close: null,
    retry: true,
    meaning: 'Too many rooms created from this address.',
  },
  TOO_MANY_SOCKETS: {
    http: 429,
    close: 4428,
    retry: true,
    reconnect: true,
    meaning: 'Too many open sockets from this address.',
  },
  POD_FULL: {
    http: 503,
    close: 4504,
    retry: true,
    reconnect: true,
    meaning: 'This pod takes no more; another may.',
  },
  PAGE_TOO_LARGE: {
    http: null,
    close: null,
    retry: false,
    meaning: 'The page is larger than this installation allows.',
  },
  PAGE_INVALID: {
    http: null,
    close: null,
    retry: false,
    meaning: 'What is at this address is no page: its manifest or its content does not agree with itself.',
  },
  PAGES_TOO_LARGE: {
    http: null,
    close: null,
    retry: false,
    meaning: 'All pages of this tab together are larger than allowed: close one first.',
  },
  TOO_MANY_PAGES: {
    http: null,
    close: null,
    retry: false,
    meaning: 'This tab has as many pages as it may have: close one first.',
  },
  PAGES_TOO_FAST: { http: null, close: null, retry: true, meaning: 'Too many requests for pages.' },
  NO_RELAY: { http: 503, close: null, retry: true, meaning: 'No media relay takes sessions now.' },
  NOT_READY: {
    http: 503,
    close: 4505,
    retry: true,
    reconnect: true,
    meaning: 'This pod is starting, draining or without its bus.',
  },
  STORE_UNAVAILABLE: {
    http: 503,
    close: 4506,
    retry: true,
    reconnect: true,
    meaning: 'The store of named rooms does not answer.',
  },
  NAME_INVALID: {
    http: 400,
    close: 4406,
    retry: false,
    meaning: 'The display name is empty, too long or has control characters.',
  },
  ENTER_FIRST: {
    http: null,
    close: 4405,
    retry: false,
    meaning: 'The first message must be enter or resume.',
  },
  ENTER_TIMEOUT: {
    http: null,
    close: 4408,
    retry: false,
    reconnect: true,
    meaning: 'No enter or resume within the time limit.',
  },
  ALREADY_ENTERED: { http: null, close: null, retry: false, meaning: 'This socket has entered already.' },
  TICKET_INVALID: {
    http: null,
    close: 4401,
    retry: false,
    meaning: 'The ticket is forged, of another room or unreadable.',
  },
  TICKET_EXPIRED: { http: null, close: 4402, retry: false, meaning: 'The ticket is too old: join again.' },
  TICKET_USED: { http: null, close: 4403, retry: false, meaning: 'The ticket has been used: join again.' },
  RESUME_INVALID: {
    http: null,
    close: 4411,
    retry: false,
    meaning: 'The resume token is forged, of another room or unreadable.',
  },
  RESUME_EXPIRED: { http: null, close: 4412, retry: false, meaning: 'Too late to resume: join again.' },
  REPLACED: {
    http: null,
    close: 4413,
    retry: false,
    meaning: 'The same participant is connected elsewhere; this client stops for good.',
  },
  KICKED: { http: null, close: 4414, retry: false, meaning: 'The owner removed this participant.' },
  BANNED: { http: 403, close: 4415, retry: false, meaning: 'This participant may not enter the room.' },
  LIVE_OFF: {
    http: 403,
    close: null,
    retry: false,
    meaning: 'This installation has no live broadcasts that anybody may open.',
  },
  LOBBY_DENIED: {
    http: 403,
    close: 4416,
    retry: false,
    meaning: 'The owner did not admit this participant.',
  },
  BAD_MESSAGE: {
    http: null,
    close: 4400,
    retry: false,
    meaning: 'The message is not JSON or not of its type; the socket is closed after too many.',
  },
  UNKNOWN_TYPE: {
    http: null,
    close: 4400,
    retry: false,
    meaning: 'A message of an unknown type; the socket is closed after too many.',
  },
  BAD_FRAME: { http: null, close: 1002, retry: false, meaning: 'Not a frame of RFC 6455.' },
  BAD_ENCODING: { http: null, close: 1007, retry: false, meaning: 'A text message that is not UTF-8.' },
  MESSAGE_TOO_LARGE: {
    http: null,
    close: 1009,
    retry: false,
    meaning: 'The message is over the size limit.',
  },
  TOO_MANY_FRAGMENTS: {
    http: null,
    close: 1008,
    retry: false,
    meaning: 'The message came in more fragments, or in smaller pieces, than allowed.',
  },
  MESSAGE_TIMEOUT: {
    http: null,
    close: 4433,
    retry: true,
    reconnect: true,
    meaning: 'The message was not complete in time.',
  },
  INCOMPLETE_BYTES: {
    http: null,
    close: 4434,
    retry: true,
    reconnect: true,
    meaning: 'Incomplete messages from this address hold too many bytes.',
  },
  RATE_LIMITED: {
    http: null,
    close: 4429,
    retry: true,
    reconnect: true,
    meaning: 'This socket sends too much too fast.',
  },
  SLOW_CONSUMER: {
    http: null,
    close: 4430,
    retry: true,
    reconnect: true,
    meaning: 'This socket reads too slowly.',
  },
  CHAT_TOO_LONG: { http: null, close: null, retry: false, meaning: 'The chat line is too long.' },
  CHAT_TOO_FAST: {
    http: null,
    close: null,
    retry: true,
    meaning: 'Too many chat lines: this one was not sent.',
  },
  ICE_TOO_FAST: {
    http: null,
    close: null,
    retry: true,
    meaning: 'Too many requests for ICE servers.',
  },
  GO_ELSEWHERE: {
    http: null,
    close: 1012,
    retry: true,
    reconnect: true,
    meaning: 'This pod is going away: resume on another.',
  },
  INTERNAL: { http: 500, close: 1011, retry: true, reconnect: true, meaning: 'A fault of ours.' },
} as const satisfies Record<string, CodeEntry>);

export type Code = keyof typeof CODES;

export const codeNames = (): readonly Code[] => Object.keys(CODES) as Code[];

/** The code that a WebSocket close code stands for; `undefined` for a plain loss (1006) or a close that is no error. */
export function codeOfClose(close: number): Code | undefined {
  return codeNames().find((code) => CODES[code].close === close);
}

export const isCode = (text: string): text is Code => Object.hasOwn(CODES, text);

/** A code of a newer service reads as a fault of its own: something went wrong, and trying again may help. */
export const knownCode = (text: string): Code => (isCode(text) ? text : 'INTERNAL');

/** Whether a client whose socket was closed with it connects again by itself. */
export function reconnects(code: Code): boolean {
  const entry: CodeEntry = CODES[code];
  return entry.reconnect ?? false;
}
