/** The addresses of topics: `/streams/<topic>` is a page and, requested as a WebSocket, the stream itself. Rules: STR-1 to STR-5. */

const PREFIX = '/streams/';
/** The relay's `topic.bytes`. */
const MAX_BYTES = 512;
/** First segments that the relay reserves (STR-5). */
const RESERVED = new Set(
  'stats ws metrics health healthz ready readyz livez api v1 streams debug .well-known favicon.ico robots.txt'.split(
    ' ',
  ),
);

/** The topic of a page's path; `undefined` if the path under `/streams/` is not a topic (STR-4, STR-5). */
export function topicOfPath(path: string): string | undefined {
  try {
    return checkTopic(decodeURIComponent(path.slice(PREFIX.length).replace(/\/$/, '')));
  } catch {
    return undefined;
  }
}

/** Whether the path is the page with the form for a topic. */
export const isStreamsIndex = (path: string): boolean => path === '/streams' || path === PREFIX;

/** The topic in a text that the user entered: a link of any scheme, a path or a topic. */
export function topicOfText(text: string): string | undefined {
  const trimmed = text.trim();
  const linked = /\/streams\/([^?#\s]+)/.exec(trimmed);
  return linked ? topicOfPath(`${PREFIX}${linked[1]}`) : checkTopic(trimmed.replaceAll(/^\/+|\/+$/g, ''));
}

/** The path of both page and socket. */
export const streamPath = (topic: string): string =>
  PREFIX + topic.split('/').map(encodeURIComponent).join('/');

/** The topic at which subscribers receive what is sent to `topic` (STR-2). */
export const subscriberTopic = (topic: string): string => topic.replace(/^in\//, 'out/');
/** The topic to send to, so that subscribers receive it at `topic`. */
export const publisherTopic = (topic: string): string => topic.replace(/^out\//, 'in/');

function checkTopic(topic: string): string | undefined {
  const segments = topic.split('/');
  const [first = ''] = segments;
  if (segments.some((segment) => /^\.{0,2}$|[\u0000-\u001f\u007f\\]/.test(segment))) return undefined;
  if (RESERVED.has(first.toLowerCase())) return undefined;
  if (segments.length === 1 && (first === 'in' || first === 'out')) return undefined;
  return new TextEncoder().encode(`/${topic}`).length <= MAX_BYTES ? topic : undefined;
}
