/** The sentences for a stream that is not connected, and when the page retries. Codes: services/relay/README.md. */

export interface Close {
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

export const CLOSES: Readonly<Record<string, Close>> = {
  GOAWAY: {
    title: 'Moving to another server',
    body: 'The one this page used is being replaced. The stream goes on in a moment.',
    again: 'at-once',
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'This server is about to go. The page takes another one.',
    ...LATER,
  },
  POD_FULL: {
    title: 'It is busy here',
    body: 'All places are taken. The page takes one as soon as it is free.',
    ...LATER,
  },
  MEMORY_LIMIT_EXCEEDED: {
    title: 'It is busy here',
    body: 'The server has too much to hold. The page tries again.',
    ...LATER,
  },
  TOO_MANY_TOPICS: {
    title: 'It is busy here',
    body: 'There are too many topics at once. The page tries again.',
    ...LATER,
  },
  TOO_MANY_UNAUTHENTICATED: busy(),
  TOO_MANY_CODES: busy(),
  TOO_MANY_REVOCATIONS: busy(),
  TOO_MANY_SOCKETS: {
    title: 'Too many streams from your network',
    body: 'Close some you no longer watch. The page tries again by itself.',
    ...LATER,
  },
  SLOW_CONSUMER: {
    title: 'Your connection could not keep up',
    body: 'The stream is larger than what arrives here. The page tries again.',
    ...LATER,
  },
  IDLE_TIMEOUT: {
    title: 'The connection went quiet',
    body: 'The server received nothing from this page for a minute.',
    ...LATER,
  },
  UPGRADE_TIMEOUT: {
    title: 'That took too long',
    body: 'The connection was not complete in time.',
    ...LATER,
  },
  MESSAGE_TIMEOUT: { title: 'That took too long', body: 'A message was not complete in time.', ...LATER },
  BAD_FRAME: fault(),
  BAD_ENCODING: fault(),
  BAD_REQUEST: fault(),
  HEADERS_TOO_LARGE: fault(),
  MESSAGE_TOO_LARGE: fault(),
  BODY_TOO_LARGE: fault(),
  METHOD_NOT_ALLOWED: fault(),
  UPGRADE_REQUIRED: fault(),
  NOT_FOUND: {
    title: 'There are no streams here',
    body: 'This address does not exist. A part of it may be missing.',
    ...NEVER,
  },
  TOPIC_INVALID: {
    title: 'This is not a topic',
    body: 'The server does not take this name. Check the address.',
    ...NEVER,
  },
  TOPIC_RESERVED: {
    title: 'This name is taken',
    body: 'The server keeps it for itself. Choose another topic.',
    ...NEVER,
  },
  ORIGIN_DENIED: {
    title: 'This address may not show streams',
    body: 'The server does not accept pages from here. Open the stream at its own address.',
    ...NEVER,
  },
  TOKEN_REQUIRED: {
    title: 'This stream asks for a token',
    body: 'Ask the operator for an access token, and paste it here.',
    ...TOKEN,
  },
  TOKEN_TIMEOUT: {
    title: 'This stream asks for a token',
    body: 'Ask the operator for an access token, and paste it here.',
    ...TOKEN,
  },
  TOKEN_NOT_YET_VALID: {
    title: 'Your token is not valid yet',
    body: 'It begins later. Come back then, or check the clock of your computer.',
    ...TOKEN,
  },
  TOKEN_INVALID: {
    title: 'This token is not valid here',
    body: 'A part of it may be missing, or it was made for another server.',
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
    body: 'It does not let you hear this topic. Ask for one that does.',
    ...TOKEN,
  },
  CODE_INVALID: {
    title: 'This link was used already',
    body: 'Its code is good for one visit and a short time. Ask for a new link, or paste a token.',
    ...TOKEN,
  },
};

function busy(): Close {
  return {
    title: 'It is busy here',
    body: 'Many come in at once. The page tries again by itself.',
    ...LATER,
  };
}

function fault(): Close {
  return {
    title: 'Something went wrong here',
    body: 'This page and the server misunderstood each other. Load the page again.',
    ...NEVER,
  };
}

const LOST: Close = {
  title: 'The connection was lost',
  body: 'The page reconnects to the stream automatically.',
  ...LATER,
};
const UNREACHABLE: Close = {
  title: 'The stream server does not answer',
  body: 'Check your connection. The page keeps trying.',
  ...LATER,
};

/** The reason of a closed socket. `opened`: whether it had been open. */
export function closeOf(event: { readonly code: number; readonly reason: string }, opened: boolean): Close {
  const known = Object.hasOwn(CLOSES, event.reason) ? CLOSES[event.reason] : undefined;
  if (known) return known;
  if (event.code === 1012) return { ...LOST, again: 'at-once' };
  if (!opened) return UNREACHABLE;
  return event.code === 1008 ? refusal(event.reason) : LOST;
}

/** The reason of a refused request for a code. */
export function refusal(code: string): Close {
  const known = Object.hasOwn(CLOSES, code) ? CLOSES[code] : undefined;
  return (
    known ?? {
      title: 'The server does not let this page in',
      body: /^[A-Z_]{1,40}$/.test(code)
        ? `Its reason is ${code}.`
        : 'It gave no reason that this page knows.',
      ...NEVER,
    }
  );
}
