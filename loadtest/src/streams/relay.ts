/** How the bench runs the relay: default settings, with a token check of every client or open to all. */
import { createHmac, randomBytes } from 'node:crypto';

export interface RelaySettings {
  /** For the report. */
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
  /** What a client adds to its upgrade. */
  readonly headers: readonly string[];
}

const AUDIENCE = 'parley:streams';
/** Longer than a bench takes. */
const TOKEN_SECONDS = 4 * 3600;
/** The topics of `parley-load`. */
const TOPICS = ['load/**'];

export const withTokens = (): RelaySettings => {
  const secret = randomBytes(32).toString('hex');
  const claims = {
    aud: AUDIENCE,
    exp: Math.floor(Date.now() / 1000) + TOKEN_SECONDS,
    publish: TOPICS,
    subscribe: TOPICS,
  };
  return {
    text: 'default settings, tokens checked',
    env: { PARLEY_RELAY_ACCESS: 'token', PARLEY_RELAY_TOKEN_SECRET: secret },
    headers: [`Authorization: Bearer ${signed(claims, secret)}`],
  };
};

export const OPEN: RelaySettings = { text: 'default settings, open to all clients', env: {}, headers: [] };

/** HS256, which is what a relay's own secret is for. */
export function signed(claims: object, secret: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}
