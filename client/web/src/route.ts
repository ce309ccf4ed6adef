/** The addresses of the application. The server uses the same table to distinguish pages from unknown paths. */
import { parseRoomId, type RoomReference } from '@parley/protocol/ids';

export type Part = 'streams' | 'live' | 'shared-pages';

export type Route =
  | { readonly page: 'landing' }
  | { readonly page: 'room'; readonly room: RoomReference }
  /** The part that is loaded parses the topic, broadcast or page: `streams/topic.ts`, `live/live-route.ts`, `shared-pages/page-route.ts`. */
  | { readonly page: Part; readonly path: string }
  | { readonly page: 'invalid-link' }
  | { readonly page: 'not-found' };

export function routeOf(path: string): Route {
  if (path === '/' || path === '') return { page: 'landing' };
  const part = /^\/(streams|live|p)(?:\/|$)/.exec(path)?.[1];
  if (part) return { page: part === 'p' ? 'shared-pages' : (part as Part), path };
  const match = /^\/r\/([^/]+)\/?$/.exec(path);
  if (!match?.[1]) return path === '/r' || path === '/r/' ? { page: 'invalid-link' } : { page: 'not-found' };
  const room = roomFromText(decode(match[1]));
  return room ? { page: 'room', room } : { page: 'invalid-link' };
}

/** Whether a path belongs to the application; other paths get a 404. */
export const isPage = (path: string): boolean => routeOf(path).page !== 'not-found';

export const roomPath = (room: string): string => `/r/${room}`;

/** Whether the service drew the name, for a call: its owner did not choose it, and was shown no key. SPEC rule ROOM-13. */
export const isRoomOfCall = (room: RoomReference): boolean =>
  room.kind === 'named' && parseRoomId(room.name)?.kind === 'ad-hoc';

/** The room in a text that the user entered: a link, its path, a code with or without dashes in any case, or a name with its region. */
export function roomFromText(text: string): RoomReference | undefined {
  const trimmed = text.trim();
  const linked = /\/r\/([^/?#\s]+)/.exec(trimmed);
  const bare = (linked?.[1] ? decode(linked[1]) : trimmed).toLowerCase().replaceAll(/\s+/g, '');
  const known = parseRoomId(bare);
  if (known) return known;
  // Crockford: o counts as 0, i and l as 1, so that a code can be read aloud.
  const symbols = bare.replaceAll('-', '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return symbols.length === 16 ? parseRoomId(symbols.replaceAll(/(.{4})(?!$)/g, '$1-')) : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
