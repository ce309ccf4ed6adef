/** Named rooms and the regions over `/v1`. Failures are values with a code of the protocol. */
import { knownCode, type Code } from '@parley/protocol/codes';
import type {
  BanList,
  CreateRoomAnswer,
  CreateRoomRequest,
  RegionList,
  RoomView,
} from '@parley/protocol/http';

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Code | 'unreachable'; readonly retryAfterMs: number | null };

/** A pod answers within a second or not at all; the edge times out after 15 s. */
const TIMEOUT_MS = 10_000;

export const createRoom = (
  room: CreateRoomRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<Answer<CreateRoomAnswer>> =>
  ask<CreateRoomAnswer>('POST', '/v1/rooms', { body: JSON.stringify(room), timeoutMs });

export const readRoom = (room: string): Promise<Answer<RoomView>> => ask<RoomView>('GET', roomUrl(room), {});

export const readRegions = (): Promise<Answer<RegionList>> => ask<RegionList>('GET', '/v1/regions', {});

export const deleteRoom = (room: string, ownerKey: string): Promise<Answer<null>> =>
  ask<null>('DELETE', roomUrl(room), { ownerKey });

/** Checks the key by a request that only the owner may make. */
export const checkOwnerKey = (room: string, ownerKey: string): Promise<Answer<BanList>> =>
  ask<BanList>('GET', `${roomUrl(room)}/bans`, { ownerKey });

const roomUrl = (room: string): string => `/v1/rooms/${encodeURIComponent(room)}`;

interface Extras {
  readonly body?: string;
  readonly ownerKey?: string;
  readonly timeoutMs?: number;
}

async function ask<T>(
  method: string,
  url: string,
  { body, ownerKey, timeoutMs = TIMEOUT_MS }: Extras,
): Promise<Answer<T>> {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(ownerKey === undefined ? {} : { authorization: `Bearer ${ownerKey}` }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? null : JSON.parse(text);
    // The answer comes from our own origin and is only displayed.
    if (response.ok) return { ok: true, value: parsed as T };
    return { ok: false, reason: codeIn(parsed), retryAfterMs: retryAfter(response) };
  } catch {
    return { ok: false, reason: 'unreachable', retryAfterMs: null };
  }
}

function codeIn(body: unknown): Code | 'unreachable' {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return typeof code === 'string' ? knownCode(code) : 'unreachable';
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
