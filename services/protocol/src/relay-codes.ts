/**
 * The codes of the stream relay, with the HTTP status of a refusal, the WebSocket close code, and whether the same request may succeed
 * later. A code that signaling also has means the same there. Rules STR-70 and STR-107 of `services/relay/STREAMS.md` cite them.
 */

export interface RelayCodeEntry {
  readonly http: number;
  readonly close: number;
  readonly retry: boolean;
  readonly meaning: string;
}

export const RELAY_CODES = {
  BAD_REQUEST: {
    http: 400,
    close: 1002,
    retry: false,
    meaning: 'The request is not HTTP, or not supported by this server.',
  },
  NOT_FOUND: { http: 404, close: 1008, retry: false, meaning: 'No resource exists at this address.' },
  METHOD_NOT_ALLOWED: {
    http: 405,
    close: 1008,
    retry: false,
    meaning: 'The method is neither GET nor HEAD.',
  },
  HEADERS_TOO_LARGE: {
    http: 431,
    close: 1008,
    retry: false,
    meaning: "The request's head exceeds `headers.bytes`, or has too many headers.",
  },
  UPGRADE_TIMEOUT: {
    http: 408,
    close: 1008,
    retry: true,
    meaning: 'The head was not complete within `headers.timeout`.',
  },
  UPGRADE_REQUIRED: { http: 426, close: 1008, retry: false, meaning: 'A topic requires a WebSocket.' },
  ORIGIN_DENIED: {
    http: 403,
    close: 1008,
    retry: false,
    meaning: 'Pages of this origin are not allowed to use the relay.',
  },
  TOPIC_INVALID: { http: 400, close: 1008, retry: false, meaning: 'The path is not a topic.' },
  TOPIC_RESERVED: {
    http: 400,
    close: 1008,
    retry: false,
    meaning: 'The path begins with a reserved name.',
  },
  TOO_MANY_TOPICS: { http: 503, close: 4504, retry: true, meaning: 'The pod has `pod.topics` topics.' },
  POD_FULL: { http: 503, close: 4504, retry: true, meaning: 'The pod has `pod.sockets` sockets.' },
  TOO_MANY_SOCKETS: {
    http: 429,
    close: 4428,
    retry: true,
    meaning: 'The network has `address.sockets` sockets.',
  },
  NOT_READY: {
    http: 503,
    close: 4505,
    retry: true,
    meaning: 'The pod drains, or NATS is disconnected and the request needs other pods.',
  },
  BAD_FRAME: { http: 400, close: 1002, retry: false, meaning: 'The frame violates RFC 6455.' },
  BAD_ENCODING: { http: 400, close: 1007, retry: false, meaning: 'A text message is not valid UTF-8.' },
  MESSAGE_TOO_LARGE: {
    http: 413,
    close: 1009,
    retry: false,
    meaning: 'A message exceeds `stream.messageBytes`, or `stream.fragments`.',
  },
  MESSAGE_TIMEOUT: {
    http: 408,
    close: 4433,
    retry: true,
    meaning: 'A message was not complete within `stream.messageTimeout`.',
  },
  MEMORY_LIMIT_EXCEEDED: {
    http: 503,
    close: 1013,
    retry: true,
    meaning:
      'The pod exceeds a memory limit, or the network `address.reassemblyBytes`: `pod.reassemblyBytes`, `pod.queuedBytes`, or twice `media.cacheBytes`.',
  },
  SLOW_CONSUMER: {
    http: 503,
    close: 4430,
    retry: true,
    meaning: 'The reader received nothing for `reader.stallTimeout`.',
  },
  IDLE_TIMEOUT: {
    http: 408,
    close: 4432,
    retry: true,
    meaning: 'The client sent nothing for `socket.idleTimeout`.',
  },
  GOAWAY: { http: 503, close: 1012, retry: true, meaning: 'The pod drains.' },
  TOKEN_REQUIRED: {
    http: 401,
    close: 4440,
    retry: false,
    meaning: 'The topic requires a token and the request has none.',
  },
  TOKEN_INVALID: {
    http: 401,
    close: 4441,
    retry: false,
    meaning: 'The form, key, algorithm, size or lifetime of the token is invalid.',
  },
  TOKEN_EXPIRED: { http: 401, close: 4442, retry: false, meaning: 'The token has expired.' },
  TOKEN_NOT_YET_VALID: {
    http: 401,
    close: 4443,
    retry: true,
    meaning: 'The token is not valid yet (`nbf`, `iat`).',
  },
  TOKEN_INSUFFICIENT_SCOPE: {
    http: 403,
    close: 4444,
    retry: false,
    meaning: 'The token is valid, but does not grant this request.',
  },
  TOKEN_REVOKED: {
    http: 403,
    close: 4445,
    retry: false,
    meaning: 'The token, or its subject, was revoked.',
  },
  TOKEN_TIMEOUT: {
    http: 408,
    close: 4446,
    retry: true,
    meaning: 'The client sent no token within `token.timeout`.',
  },
  CODE_INVALID: {
    http: 403,
    close: 4447,
    retry: false,
    meaning: 'The code is not for this path, was used, or is older than `code.lifetime`.',
  },
  TOO_MANY_UNAUTHENTICATED: {
    http: 503,
    close: 4504,
    retry: true,
    meaning:
      'The pod has `pod.unauthenticated` sockets that have not sent a token, or the network `address.unauthenticated`.',
  },
  TOO_MANY_CODES: {
    http: 503,
    close: 4504,
    retry: true,
    meaning: 'The pod has `pod.codes` codes, or the network `address.codes`.',
  },
  TOO_MANY_REVOCATIONS: {
    http: 503,
    close: 4504,
    retry: true,
    meaning: 'The pod has `pod.revocations` revocations; this one was refused.',
  },
  BODY_TOO_LARGE: {
    http: 413,
    close: 1008,
    retry: false,
    meaning: 'The body of the request exceeds `body.bytes`.',
  },
  TOO_MANY_SESSIONS: {
    http: 503,
    close: 4504,
    retry: true,
    meaning: 'The pod has `media.sessions` sessions, or the network `media.addressSessions`.',
  },
  TOO_MANY_BROADCASTS: {
    http: 429,
    close: 4428,
    retry: true,
    meaning: 'The session publishes more than `media.broadcasts`.',
  },
  TOO_MANY_SUBSCRIPTIONS: {
    http: 429,
    close: 4428,
    retry: true,
    meaning: 'The session subscribes to more than `media.subscriptions` tracks.',
  },
  TOO_MANY_HANDSHAKES: {
    http: 503,
    close: 4504,
    retry: true,
    meaning: 'The pod has `media.handshakes` handshakes in progress.',
  },
} as const satisfies Record<string, RelayCodeEntry>;

export type RelayCode = keyof typeof RELAY_CODES;

/** The codes that close a media session: their number in `CONNECTION_CLOSE`, above 64. Rule MED-13 of `services/relay/MEDIA.md`. */
export const SESSION_CLOSES = {
  PATH_INVALID: 404,
  TOO_MANY_BROADCASTS: 429,
  TOO_MANY_SUBSCRIPTIONS: 429,
  GOAWAY: 503,
  MEMORY_LIMIT_EXCEEDED: 503,
  TOO_MANY_SESSIONS: 503,
  NOT_READY: 503,
} as const satisfies Readonly<Record<string, number>>;
