/** The table of stable codes, with HTTP status and WebSocket close code. Their meanings are in `code-meanings.ts`. SPEC rules ERR-1 to ERR-4. */

export interface CodeEntry {
  /** HTTP status of an answer of /v1 that carries the code. */
  readonly http: number | null;
  /** WebSocket close code; `null` where the socket stays open. */
  readonly close: number | null;
  /** The same request may succeed later. `passesByItself` says whether HTTP answers carry Retry-After. */
  readonly retry: boolean;
  /** A client whose socket was closed with this code reconnects by itself: the cause may pass without an action of the user. */
  readonly reconnect?: true;
}

const define = <Names extends string>(table: Record<Names, CodeEntry>): Record<Names, CodeEntry> => table;

export const CODES = define({
  BAD_REQUEST: { http: 400, close: null, retry: false },
  BODY_TOO_LARGE: { http: 413, close: null, retry: false },
  HEADERS_TOO_LARGE: { http: 431, close: null, retry: false },
  REQUEST_TIMEOUT: { http: 408, close: null, retry: true },
  NOT_FOUND: { http: 404, close: null, retry: false },
  ORIGIN_DENIED: { http: 403, close: null, retry: false },
  ROOM_INVALID: { http: 400, close: 4404, retry: false },
  ROOM_NOT_FOUND: { http: 404, close: 4404, retry: false },
  ROOM_EXISTS: { http: 409, close: null, retry: false },
  REGION_FULL: { http: 503, close: null, retry: true },
  ROOM_DELETED: { http: 410, close: 4410, retry: false },
  CALL_ENDED: { http: null, close: 4419, retry: true },
  ROOM_FULL: { http: 409, close: 4409, retry: true },
  LOBBY_FULL: { http: null, close: 4417, retry: true },
  LOBBY_TIMEOUT: { http: null, close: 4418, retry: true },
  PARTICIPANT_NOT_FOUND: { http: 404, close: null, retry: false },
  BAN_NOT_FOUND: { http: 404, close: null, retry: false },
  TOO_MANY_BANS: { http: 409, close: null, retry: false },
  TOO_MANY_MUTED: { http: 409, close: null, retry: false },
  TOO_MANY_CO_OWNERS: { http: 409, close: null, retry: false },
  TOO_MANY_REQUESTS: { http: 429, close: 4431, retry: true, reconnect: true },
  ROOM_LOCKED: { http: 423, close: 4423, retry: true },
  ROOM_HOME_UNREACHABLE: { http: 503, close: 4503, retry: true, reconnect: true },
  OWNER_KEY_INVALID: { http: 403, close: null, retry: false },
  TOO_MANY_JOINS: { http: 429, close: null, retry: true },
  TOO_MANY_ROOMS: { http: 429, close: null, retry: true },
  TOO_MANY_SOCKETS: { http: 429, close: 4428, retry: true, reconnect: true },
  POD_FULL: { http: 503, close: 4504, retry: true, reconnect: true },
  BUSY: { http: 503, close: null, retry: true },
  PAGE_TOO_LARGE: { http: null, close: null, retry: false },
  PAGE_INVALID: { http: null, close: null, retry: false },
  PAGES_TOO_LARGE: { http: null, close: null, retry: false },
  TOO_MANY_PAGES: { http: null, close: null, retry: false },
  TOO_MANY_PAGE_REQUESTS: { http: null, close: null, retry: true },
  RELAY_UNAVAILABLE: { http: 503, close: null, retry: true },
  NOT_READY: { http: 503, close: 4505, retry: true, reconnect: true },
  STORE_UNAVAILABLE: { http: 503, close: 4506, retry: true, reconnect: true },
  NAME_INVALID: { http: 400, close: 4406, retry: false },
  ENTER_REQUIRED: { http: null, close: 4405, retry: false },
  ENTER_TIMEOUT: { http: null, close: 4408, retry: false, reconnect: true },
  ALREADY_ENTERED: { http: null, close: null, retry: false },
  TICKET_INVALID: { http: null, close: 4401, retry: false },
  TICKET_EXPIRED: { http: null, close: 4402, retry: false },
  TICKET_USED: { http: null, close: 4403, retry: false },
  RESUME_INVALID: { http: null, close: 4411, retry: false },
  RESUME_EXPIRED: { http: null, close: 4412, retry: false },
  REPLACED: { http: null, close: 4413, retry: false },
  KICKED: { http: null, close: 4414, retry: false },
  BANNED: { http: 403, close: 4415, retry: false },
  LIVE_DISABLED: { http: 403, close: null, retry: false },
  LOBBY_DENIED: { http: 403, close: 4416, retry: false },
  BAD_MESSAGE: { http: null, close: 4400, retry: false },
  UNKNOWN_TYPE: { http: null, close: 4400, retry: false },
  BAD_FRAME: { http: null, close: 1002, retry: false },
  BAD_ENCODING: { http: null, close: 1007, retry: false },
  MESSAGE_TOO_LARGE: { http: null, close: 1009, retry: false },
  TOO_MANY_FRAGMENTS: { http: null, close: 1008, retry: false },
  MESSAGE_TIMEOUT: { http: null, close: 4433, retry: true, reconnect: true },
  REASSEMBLY_LIMIT_EXCEEDED: { http: null, close: 4434, retry: true, reconnect: true },
  RATE_LIMITED: { http: null, close: 4429, retry: true, reconnect: true },
  SLOW_CONSUMER: { http: null, close: 4430, retry: true, reconnect: true },
  CHAT_TOO_LONG: { http: null, close: null, retry: false },
  TOO_MANY_CHAT_LINES: { http: null, close: null, retry: true },
  TOO_MANY_ICE_REQUESTS: { http: null, close: null, retry: true },
  TOO_MANY_REPORTS: { http: null, close: null, retry: false },
  GOAWAY: { http: null, close: 1012, retry: true, reconnect: true },
  INTERNAL: { http: 500, close: 1011, retry: true, reconnect: true },
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
