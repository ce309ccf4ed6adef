/** The table of stable codes, with HTTP status and WebSocket close code. SPEC rules ERR-1 to ERR-4. */

export interface CodeEntry {
  /** HTTP status of an answer of /v1 that carries the code. */
  readonly http: number | null;
  /** WebSocket close code; `null` where the socket stays open. */
  readonly close: number | null;
  /** The same request may succeed later. `passesByItself` says whether HTTP answers carry Retry-After. */
  readonly retry: boolean;
  /** A client whose socket was closed with this code reconnects by itself: the cause may pass without an action of the user. */
  readonly reconnect?: true;
  readonly meaning: string;
}

const define = <Names extends string>(table: Record<Names, CodeEntry>): Record<Names, CodeEntry> => table;

export const CODES = define({
  BAD_REQUEST: {
    http: 400,
    close: null,
    retry: false,
    meaning: 'The request does not have the form that this route requires.',
  },
  BODY_TOO_LARGE: {
    http: 413,
    close: null,
    retry: false,
    meaning: 'The request body exceeds the size limit.',
  },
  HEADERS_TOO_LARGE: {
    http: 431,
    close: null,
    retry: false,
    meaning: 'The request headers exceed the size limit of the edge or the pod.',
  },
  REQUEST_TIMEOUT: {
    http: 408,
    close: null,
    retry: true,
    meaning: 'The request was not complete in time.',
  },
  NOT_FOUND: { http: 404, close: null, retry: false, meaning: 'No resource exists at this address.' },
  ORIGIN_DENIED: {
    http: 403,
    close: null,
    retry: false,
    meaning: 'Pages of this origin are not allowed to use this installation.',
  },
  ROOM_INVALID: {
    http: 400,
    close: 4404,
    retry: false,
    meaning: 'The path does not contain a valid room id.',
  },
  ROOM_NOT_FOUND: { http: 404, close: 4404, retry: false, meaning: 'No named room with this name exists.' },
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
    meaning: 'The region has reached its maximum number of named rooms.',
  },
  ROOM_DELETED: { http: 410, close: 4410, retry: false, meaning: 'The owner deleted this room.' },
  CALL_ENDED: {
    http: null,
    close: 4419,
    retry: true,
    meaning: 'The owner ended the call of this room.',
  },
  ROOM_FULL: {
    http: 409,
    close: 4409,
    retry: true,
    meaning: 'The room has reached its maximum number of participants.',
  },
  LOBBY_FULL: {
    http: null,
    close: 4417,
    retry: true,
    meaning: 'The lobby of this room is full.',
  },
  LOBBY_TIMEOUT: {
    http: null,
    close: 4418,
    retry: true,
    meaning: 'The owner did not answer within the time limit of the lobby.',
  },
  PARTICIPANT_NOT_FOUND: {
    http: 404,
    close: null,
    retry: false,
    meaning: 'No participant with this id is in the room or in its lobby.',
  },
  BAN_NOT_FOUND: { http: 404, close: null, retry: false, meaning: 'The room has no ban with this id.' },
  TOO_MANY_BANS: {
    http: 409,
    close: null,
    retry: false,
    meaning: 'The room has reached its maximum number of bans: lift one first.',
  },
  TOO_MANY_MUTED: {
    http: 409,
    close: null,
    retry: false,
    meaning: 'The room has reached its maximum number of single mutes.',
  },
  TOO_MANY_CO_OWNERS: {
    http: 409,
    close: null,
    retry: false,
    meaning: 'The room has reached its maximum number of co-owners.',
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
    meaning: 'This pod has reached a limit; another pod may accept the request.',
  },
  BUSY: {
    http: 503,
    close: null,
    retry: true,
    meaning:
      'Many clients are arriving: repeat the request after the stated time, with the slot of this answer.',
  },
  PAGE_TOO_LARGE: {
    http: null,
    close: null,
    retry: false,
    meaning: 'The page exceeds the size limit of this installation.',
  },
  PAGE_INVALID: {
    http: null,
    close: null,
    retry: false,
    meaning: 'The manifest or the content of this page is invalid.',
  },
  PAGES_TOO_LARGE: {
    http: null,
    close: null,
    retry: false,
    meaning: 'All pages of this tab together exceed the size limit: close one first.',
  },
  TOO_MANY_PAGES: {
    http: null,
    close: null,
    retry: false,
    meaning: 'This tab has reached its maximum number of pages: close one first.',
  },
  TOO_MANY_PAGE_REQUESTS: { http: null, close: null, retry: true, meaning: 'Too many requests for pages.' },
  RELAY_UNAVAILABLE: { http: 503, close: null, retry: true, meaning: 'No media relay accepts sessions now.' },
  NOT_READY: {
    http: 503,
    close: 4505,
    retry: true,
    reconnect: true,
    meaning: 'This pod is starting, draining or not connected to NATS.',
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
    meaning: 'The display name is empty, too long or contains forbidden characters.',
  },
  ENTER_REQUIRED: {
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
    meaning: 'The socket sent no enter or resume within the time limit.',
  },
  ALREADY_ENTERED: { http: null, close: null, retry: false, meaning: 'This socket has already entered.' },
  TICKET_INVALID: {
    http: null,
    close: 4401,
    retry: false,
    meaning: 'The ticket is forged, for another room or unreadable.',
  },
  TICKET_EXPIRED: { http: null, close: 4402, retry: false, meaning: 'The ticket has expired: join again.' },
  TICKET_USED: { http: null, close: 4403, retry: false, meaning: 'The ticket has been used: join again.' },
  RESUME_INVALID: {
    http: null,
    close: 4411,
    retry: false,
    meaning: 'The resume token is forged, for another room or unreadable.',
  },
  RESUME_EXPIRED: {
    http: null,
    close: 4412,
    retry: false,
    meaning: 'The resume token has expired: join again.',
  },
  REPLACED: {
    http: null,
    close: 4413,
    retry: false,
    meaning: 'The same participant connected again; this client does not reconnect.',
  },
  KICKED: { http: null, close: 4414, retry: false, meaning: 'The owner removed this participant.' },
  BANNED: { http: 403, close: 4415, retry: false, meaning: 'This participant is banned from the room.' },
  LIVE_DISABLED: {
    http: 403,
    close: null,
    retry: false,
    meaning: 'Live broadcasts are disabled on this installation.',
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
    meaning:
      'The message is not valid JSON or does not match its schema; after too many of these the socket is closed.',
  },
  UNKNOWN_TYPE: {
    http: null,
    close: 4400,
    retry: false,
    meaning: 'The message has an unknown type; after too many of these the socket is closed.',
  },
  BAD_FRAME: { http: null, close: 1002, retry: false, meaning: 'The frame violates RFC 6455.' },
  BAD_ENCODING: { http: null, close: 1007, retry: false, meaning: 'A text message is not valid UTF-8.' },
  MESSAGE_TOO_LARGE: {
    http: null,
    close: 1009,
    retry: false,
    meaning: 'The message exceeds the size limit.',
  },
  TOO_MANY_FRAGMENTS: {
    http: null,
    close: 1008,
    retry: false,
    meaning: 'The message was sent in too many fragments or pieces.',
  },
  MESSAGE_TIMEOUT: {
    http: null,
    close: 4433,
    retry: true,
    reconnect: true,
    meaning: 'The message was not complete in time.',
  },
  REASSEMBLY_LIMIT_EXCEEDED: {
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
    meaning: 'This socket exceeds its rate of messages or bytes.',
  },
  SLOW_CONSUMER: {
    http: null,
    close: 4430,
    retry: true,
    reconnect: true,
    meaning: 'This socket reads too slowly.',
  },
  CHAT_TOO_LONG: {
    http: null,
    close: null,
    retry: false,
    meaning: 'The chat line exceeds the length limit.',
  },
  TOO_MANY_CHAT_LINES: {
    http: null,
    close: null,
    retry: true,
    meaning: 'Too many chat lines or reactions: this one was not sent.',
  },
  TOO_MANY_ICE_REQUESTS: {
    http: null,
    close: null,
    retry: true,
    meaning: 'Too many requests for ICE servers.',
  },
  TOO_MANY_REPORTS: {
    http: null,
    close: null,
    retry: false,
    meaning: 'Too many reports of quality: this one was not counted.',
  },
  GOAWAY: {
    http: null,
    close: 1012,
    retry: true,
    reconnect: true,
    meaning: 'This pod is draining: resume on another.',
  },
  INTERNAL: {
    http: 500,
    close: 1011,
    retry: true,
    reconnect: true,
    meaning: 'An internal error of the service.',
  },
} as const satisfies Record<string, CodeEntry>);

/** The code of a refusal or of an end. Their meanings: services/protocol/generated/reference.md. @useDeclaredType */
export type Code = keyof typeof CODES;

export const codeNames = (): readonly Code[] => Object.keys(CODES) as Code[];

/** The code of a WebSocket close code; `undefined` for a lost connection (1006) or a close that is no error. */
export function codeOfClose(close: number): Code | undefined {
  return codeNames().find((code) => CODES[code].close === close);
}

export const isCode = (text: string): text is Code => Object.hasOwn(CODES, text);

/** A reader treats a code of a newer service as INTERNAL: a retry may help. */
export const knownCode = (text: string): Code => (isCode(text) ? text : 'INTERNAL');

/** The cause passes without an action of a person: HTTP answers say when to retry. SPEC rule JOIN-3. */
export const passesByItself = (code: Code): boolean => CODES[code].http === 429 || CODES[code].http === 503;

/** Whether a client whose socket was closed with this code reconnects by itself. */
export function reconnects(code: Code): boolean {
  const entry: CodeEntry = CODES[code];
  return entry.reconnect ?? false;
}
