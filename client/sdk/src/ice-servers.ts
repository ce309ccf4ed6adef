/** When to ask for fresh TURN credentials. The REST form of coturn names the end of validity in the user name: `expiry:participant`. */
import type { IceServer } from '@parley/protocol/http';

/** New connections and ICE restarts need credentials that last through their negotiation and a while longer. */
const EARLY_MS = 300_000;
/** Also for credentials of very short life: not more often than this. */
const SHORTEST_MS = 30_000;

/** Milliseconds until new credentials should be asked for; `null` where none expire. */
export function refreshIn(servers: readonly IceServer[], wallMs: number): number | null {
  const expiries = servers.flatMap(({ username }) => {
    const seconds = /^(\d{1,12}):/.exec(username ?? '')?.[1];
    return seconds === undefined ? [] : [Number(seconds) * 1000];
  });
  if (expiries.length === 0) return null;
  const left = Math.min(...expiries) - wallMs;
  return Math.max(SHORTEST_MS, left - Math.min(EARLY_MS, left / 2));
}

/** STUN alone. */
export function withoutTurn(servers: readonly IceServer[]): IceServer[] {
  const isTurn = (url: string): boolean => /^turns?:/.test(url);
  return servers.filter(({ urls }) => ![urls].flat().some(isTurn));
}

/** `exactOptionalPropertyTypes` forms of the browser's dictionary. */
export function toRtc(servers: readonly IceServer[]): RTCIceServer[] {
  return servers.map(({ urls, username, credential }) => ({
    urls,
    ...(username === undefined ? {} : { username }),
    ...(credential === undefined ? {} : { credential }),
  }));
}
