/** The addresses of broadcasts: `/live/<name>` watches one, `/live/<name>/publish` publishes it. */

const PREFIX = '/live/';
/** Long enough to be read aloud; the service decides which names are valid. */
const MAX_CHARS = 128;

export type LiveRoute =
  | { readonly at: 'index' }
  | { readonly at: 'watch' | 'publish'; readonly name: string }
  | { readonly at: 'invalid' };

export function liveRoute(path: string): LiveRoute {
  if (path === '/live' || path === PREFIX) return { at: 'index' };
  const [first = '', second, ...more] = path.slice(PREFIX.length).replace(/\/$/, '').split('/');
  const name = checkName(decoded(first));
  if (name === undefined || more.length > 0) return { at: 'invalid' };
  if (second === undefined) return { at: 'watch', name };
  return second === 'publish' ? { at: 'publish', name } : { at: 'invalid' };
}

/** The name in a text that the user entered: a link, its path or a name. */
export function nameOfText(text: string): string | undefined {
  const trimmed = text.trim();
  const linked = /\/live\/([^/?#\s]+)/.exec(trimmed);
  return checkName(linked?.[1] === undefined ? trimmed : decoded(linked[1]));
}

export const watchPath = (name: string): string => PREFIX + encodeURIComponent(name);
export const publishPath = (name: string): string => `${watchPath(name)}/publish`;

/** One segment of a path. Stars are patterns where tokens name broadcasts (STR-105). */
function checkName(name: string | undefined): string | undefined {
  if (name === undefined || name.length > MAX_CHARS) return undefined;
  return /^\.{0,2}$|[/\\*\s\u0000-\u001f\u007f]/.test(name) ? undefined : name;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
