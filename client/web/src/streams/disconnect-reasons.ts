/** The sentences for a stream that is not connected, and when the page retries. Codes: services/relay/README.md. */

export interface DisconnectReason {
  readonly title: string;
  readonly body: string;
  /** `at-once`: the relay asked the client to reconnect; `later`: after a pause; `never`: only if the user asks. */
  readonly again: 'at-once' | 'later' | 'never';
  /** Another token may help. */
  readonly token?: true;
}

const LATER = { again: 'later' } as const;
const NEVER = { again: 'never' } as const;
const TOKEN = { again: 'never', token: true } as const;

export const DISCONNECT_REASONS: Readonly<Record<string, DisconnectReason>> = {
  GOAWAY: {
    title: 'Moving to another server',
    body: 'The previous server is shutting down. The stream continues in a moment.',
    again: 'at-once',
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'This server is starting or shutting down. The page connects to another one.',
    ...LATER,
  },
  POD_FULL: {
    title: 'The server is busy',
    body: 'The server has no free places. The page connects as soon as there is one.',
    ...LATER,
  },
  MEMORY_LIMIT_EXCEEDED: {
    title: 'The server is busy',
    body: 'The server has reached its memory limit. The page tries again automatically.',
    ...LATER,
  },
  TOO_MANY_TOPICS: {
    title: 'The server is busy',
    body: 'The server has reached its limit of topics. The page tries again automatically.',
    ...LATER,
  },
  TOO_MANY_UNAUTHENTICATED: busy(),
  TOO_MANY_CODES: busy(),
  TOO_MANY_REVOCATIONS: busy(),
  TOO_MANY_SOCKETS: {
    title: 'Too many streams from your network',
    body: 'Close streams that you no longer watch. The page tries again automatically.',
    ...LATER,
  },
  SLOW_CONSUMER: {
    title: 'Your connection could not keep up',
    body: 'The stream needs a faster connection. The page tries again automatically.',
    ...LATER,
  },
  IDLE_TIMEOUT: {
    title: 'The connection timed out',
    body: 'The server received nothing from this page for a minute.',
    ...LATER,
  },
  UPGRADE_TIMEOUT: {
    title: 'The connection timed out',
    body: 'The connection was not complete in time.',
    ...LATER,
  },
  MESSAGE_TIMEOUT: {
    title: 'The connection timed out',
    body: 'A message was not complete in time.',
    ...LATER,
  },
  BAD_FRAME: fault(),
  BAD_ENCODING: fault(),
  BAD_REQUEST: fault(),
  HEADERS_TOO_LARGE: fault(),
  MESSAGE_TOO_LARGE: fault(),
  BODY_TOO_LARGE: fault(),
  METHOD_NOT_ALLOWED: fault(),
  UPGRADE_REQUIRED: fault(),
  NOT_FOUND: {
    title: 'Stream not found',
    body: 'This address does not exist. A part of it may be missing.',
    ...NEVER,
  },
  TOPIC_INVALID: {
    title: 'This is not a topic',
    body: 'The server does not accept this name. Check the address.',
    ...NEVER,
  },
  TOPIC_RESERVED: {
    title: 'This name is reserved',
    body: 'The server reserves this name. Choose another topic.',
    ...NEVER,
  },
  ORIGIN_DENIED: {
    title: 'Streams are not allowed at this address',
    body: 'The server does not accept pages from here. Open the stream at its own address.',
    ...NEVER,
  },
  TOKEN_REQUIRED: {
    title: 'This stream requires a token',
    body: 'Ask the operator for an access token, and paste it here.',
    ...TOKEN,
  },
  TOKEN_TIMEOUT: {
    title: 'This stream requires a token',
    body: 'Ask the operator for an access token, and paste it here.',
    ...TOKEN,
  },
  TOKEN_NOT_YET_VALID: {
    title: 'Your token is not valid yet',
    body: 'It becomes valid later. Come back then, or check the clock of your device.',
    ...TOKEN,
  },
  TOKEN_INVALID: {
    title: 'This token is not valid here',
    body: 'A part of it may be missing, or it was issued for another server.',
    ...TOKEN,
  },
  TOKEN_EXPIRED: { title: 'Your token has expired', body: 'Ask for a new one, and paste it here.', ...TOKEN },
  TOKEN_REVOKED: {
    title: 'Your access was revoked',
    body: 'The operator of this stream revoked it.',
    ...TOKEN,
  },
  TOKEN_INSUFFICIENT_SCOPE: {
    title: 'Your token is for something else',
    body: 'It does not grant access to this topic. Ask for one that does.',
    ...TOKEN,
  },
  CODE_INVALID: {
    title: 'This link was already used',
    body: 'Its code is valid for one visit and a short time. Ask for a new link, or paste a token.',
    ...TOKEN,
  },
};

function busy(): DisconnectReason {
  return {
    title: 'The server is busy',
    body: 'The server gets too many requests. The page tries again automatically.',
    ...LATER,
  };
}

function fault(): DisconnectReason {
  return {
    title: 'Something went wrong',
    body: 'The server could not process a message from this page. Load the page again.',
    ...NEVER,
  };
}

const LOST: DisconnectReason = {
  title: 'The connection was lost',
  body: 'The page reconnects to the stream automatically.',
  ...LATER,
};
const UNREACHABLE: DisconnectReason = {
  title: 'The stream server does not answer',
  body: 'Check your connection. The page keeps trying.',
  ...LATER,
};

/** The reason of a closed socket. `opened`: whether it had been open. */
export function closeReason(
  event: { readonly code: number; readonly reason: string },
  opened: boolean,
): DisconnectReason {
  const known = Object.hasOwn(DISCONNECT_REASONS, event.reason)
    ? DISCONNECT_REASONS[event.reason]
    : undefined;
  if (known) return known;
  if (event.code === 1012) return { ...LOST, again: 'at-once' };
  if (!opened) return UNREACHABLE;
  return event.code === 1008 ? codeReason(event.reason) : LOST;
}

/** The reason of a refused request for a code. */
export function codeReason(code: string): DisconnectReason {
  const known = Object.hasOwn(DISCONNECT_REASONS, code) ? DISCONNECT_REASONS[code] : undefined;
  return (
    known ?? {
      title: 'The server refused the connection',
      body: /^[A-Z_]{1,40}$/.test(code) ? `The reason is ${code}.` : 'It gave no known reason.',
      ...NEVER,
    }
  );
}
