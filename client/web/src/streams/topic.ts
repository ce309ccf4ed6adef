/** Topics as addresses: `/streams/<topic>` is a page and, asked for as a WebSocket, the stream itself. Rules: STR-1 to STR-5. */

const PREFIX = '/streams/';
/** The relay's `topic.bytes`. */
const LONGEST_BYTES = 512;
/** First segments that the relay keeps for itself (STR-5). */
const RESERVED = new Set(
  'stats ws metrics health healthz ready readyz livez api v1 streams debug .well-known favicon.ico robots.txt'.split(
    ' ',
  ),
);

/** The topic of a page's path; `undefined` where what is under `/streams/` is no topic (STR-4, STR-5). */
export function topicOfPath(path: string): string | undefined {
  try {
    return checkTopic(decodeURIComponent(path.slice(PREFIX.length).replace(/\/$/, '')));
  } catch {
    return undefined;
  }
}

/** The page where a topic is chosen. */
export const isChoice = (path: string): boolean => path === '/streams' || path === PREFIX;

/** What somebody means by what they typed or pasted: a link of any scheme, a path or a topic. */
export function topicOfText(text: string): string | undefined {
  const trimmed = text.trim();
  const linked = /\/streams\/([^?#\s]+)/.exec(trimmed);
  return linked ? topicOfPath(`${PREFIX}${linked[1]}`) : checkTopic(trimmed.replaceAll(/^\/+|\/+$/g, ''));
}

/** The path of page and socket alike. */
export const streamPath = (topic: string): string =>
  PREFIX + topic.split('/').map(encodeURIComponent).join('/');

/** Where a stream that is sent to `topic` is heard (STR-2). */
export const hearingTopic = (topic: string): string => topic.replace(/^in\//, 'out/');
/** Where to send what is heard at `topic`. */
export const sendingTopic = (topic: string): string => topic.replace(/^out\//, 'in/');

function checkTopic(topic: string): string | undefined {
  const segments = topic.split('/');
  const [first = ''] = segments;
  if (segments.some((segment) => /^\.{0,2}$|[\u0000-\u001f\u007f\\]/.test(segment))) return undefined;
  if (RESERVED.has(first.toLowerCase())) return undefined;
  if (segments.length === 1 && (first === 'in' || first === 'out')) return undefined;
  return new TextEncoder().encode(`/${topic}`).length <= LONGEST_BYTES ? topic : undefined;
}
