/**
 * Decides which chunk to request from which visitor. Pure. Rarest first with random ties; from incomplete holders before complete ones, so that the
 * first holder sends each chunk about once and readers pass it on. Requests that time out are repeated elsewhere; the last chunks are requested
 * from two visitors at once. SPEC rules PAGE-16, PAGE-17.
 */
import type { Random } from '../ports.ts';
import { Bitmap } from './bitmap.ts';

export interface ChunkRequest {
  readonly peer: string;
  readonly chunk: number;
}

interface Peer {
  readonly has: Bitmap;
  /** When each chunk was requested. */
  readonly requested: Map<number, number>;
  /** The number of timed-out requests for each chunk; that many answers may still arrive. */
  readonly timedOut: Map<number, number>;
  /** The number of concurrent requests: smaller for a new or slow visitor. */
  window: number;
  /** Requests that timed out since the last chunk arrived. */
  failures: number;
  receivedAt: number;
}

export const MAX_CONCURRENT_REQUESTS = 8;
/** The first window of a new visitor: one that is slow, or serves many, must not count as unresponsive. */
const FIRST_WINDOW = 2;
/** A chunk that arrives within this time enlarges the window. */
const QUICK_MS = 2000;
export const STALL_MS = 5000;
const MAX_FAILURES = 3;
/** Below this number of missing chunks one slow visitor would delay the end. */
const LAST_CHUNKS = 8;
/** One of the last chunks that did not arrive within this time is requested from a second visitor. */
const LAST_MS = 500;

export class Swarm {
  readonly #here: Bitmap;
  readonly #random: Random;
  readonly #peers = new Map<string, Peer>();
  /** The number of connected visitors that have each chunk. */
  readonly #holders: Uint16Array;
  /** The number of pending requests for each chunk. */
  readonly #pendingOf: Uint8Array;
  readonly #checking = new Set<number>();

  /** The caller adds checked chunks to `here`. */
  constructor(here: Bitmap, random: Random) {
    this.#here = here;
    this.#random = random;
    this.#holders = new Uint16Array(here.of);
    this.#pendingOf = new Uint8Array(here.of);
  }

  join(id: string, now: number): void {
    if (this.#peers.has(id)) return;
    const has = new Bitmap(this.#here.of);
    this.#peers.set(id, {
      has,
      requested: new Map(),
      timedOut: new Map(),
      window: FIRST_WINDOW,
      failures: 0,
      receivedAt: now,
    });
  }

  leave(id: string): void {
    const peer = this.#peers.get(id);
    if (peer === undefined) return;
    this.#peers.delete(id);
    for (const chunk of peer.requested.keys()) this.#answered(peer, chunk);
    for (let chunk = 0; chunk < this.#here.of; chunk += 1) if (peer.has.has(chunk)) this.#fewer(chunk);
  }

  got(id: string, chunk: number): void {
    if (this.#peers.get(id)?.has.add(chunk)) this.#holders[chunk] = (this.#holders[chunk] ?? 0) + 1;
  }

  hasAll(id: string): boolean {
    return this.#peers.get(id)?.has.full ?? false;
  }

  /** Whether a connected visitor has a missing chunk. */
  get fed(): boolean {
    for (let chunk = 0; chunk < this.#here.of; chunk += 1) {
      if ((this.#holders[chunk] ?? 0) > 0 && !this.#here.has(chunk)) return true;
    }
    return false;
  }

  /** The requests to send now; they count as sent. */
  requests(now: number): ChunkRequest[] {
    const requests: ChunkRequest[] = [];
    const order = [...this.#peers].sort(
      ([, a], [, b]) => Number(a.has.full) - Number(b.has.full) || a.requested.size - b.requested.size,
    );
    for (const [id, peer] of order) {
      while (peer.requested.size < peer.window) {
        const chunk = this.#choose(peer, now);
        if (chunk === undefined) break;
        peer.requested.set(chunk, now);
        this.#pendingOf[chunk] = (this.#pendingOf[chunk] ?? 0) + 1;
        requests.push({ peer: id, chunk });
      }
    }
    return requests;
  }

  /** A chunk arrived. `wanted`: the caller checks it and then calls `checked`; `unasked`: no correct client sends it. */
  arrived(id: string, chunk: number, now: number): 'wanted' | 'twice' | 'unasked' {
    const peer = this.#peers.get(id);
    const at = peer?.requested.get(chunk);
    if (peer === undefined || !(this.#answered(peer, chunk) || wasLate(peer, chunk))) return 'unasked';
    const quick = at !== undefined && now - at < QUICK_MS;
    peer.window = quick ? Math.min(MAX_CONCURRENT_REQUESTS, peer.window + 1) : Math.max(1, peer.window - 1);
    peer.failures = 0;
    peer.receivedAt = now;
    if (this.#here.has(chunk) || this.#checking.has(chunk)) return 'twice';
    this.#checking.add(chunk);
    return 'wanted';
  }

  checked(chunk: number): void {
    this.#checking.delete(chunk);
  }

  /** The visitor rejected the request. `false`: it also rejected the previous ones; the caller ends the link. */
  refused(id: string, chunk: number): boolean {
    const peer = this.#peers.get(id);
    if (peer === undefined || !this.#answered(peer, chunk)) return true;
    if (peer.has.has(chunk)) this.#fewer(chunk);
    peer.has.remove(chunk);
    peer.failures += 1;
    return peer.failures < MAX_FAILURES;
  }

  /**
   * Frees requests that timed out, so that they can be repeated elsewhere. Returns visitors that left several in a row unanswered and sent nothing
   * since: the caller ends their links. Requests that were sent together time out together and count once, because a slow holder with many readers
   * takes long for the first.
   */
  expireRequests(now: number): string[] {
    const stalled: string[] = [];
    for (const [id, peer] of this.#peers) {
      let expired = false;
      for (const [chunk, at] of peer.requested) {
        if (now - at < STALL_MS) continue;
        this.#answered(peer, chunk);
        peer.timedOut.set(chunk, (peer.timedOut.get(chunk) ?? 0) + 1);
        expired = true;
      }
      if (!expired) continue;
      peer.window = Math.max(1, peer.window >> 1);
      peer.failures += 1;
      if (peer.failures >= MAX_FAILURES && now - peer.receivedAt >= STALL_MS) stalled.push(id);
    }
    return stalled;
  }

  /** This device slept: pending requests do not count as late. */
  forgive(now: number): void {
    for (const peer of this.#peers.values()) {
      peer.receivedAt = now;
      for (const chunk of peer.requested.keys()) peer.requested.set(chunk, now);
    }
  }

  #choose(peer: Peer, now: number): number | undefined {
    const missing = this.#here.of - this.#here.count - this.#checking.size;
    let rarest = Number.POSITIVE_INFINITY;
    let equals = 0;
    let chosen: number | undefined;
    let second: number | undefined;
    for (let chunk = 0; chunk < this.#here.of; chunk += 1) {
      if (this.#here.has(chunk) || this.#checking.has(chunk)) continue;
      if (!peer.has.has(chunk) || peer.requested.has(chunk)) continue;
      const holders = this.#holders[chunk] ?? 0;
      const pendingOf = this.#pendingOf[chunk] ?? 0;
      if (pendingOf > 0) {
        if (pendingOf === 1 && missing <= LAST_CHUNKS && this.#isLate(chunk, now)) second ??= chunk;
        continue;
      }
      if (holders > rarest || (peer.timedOut.has(chunk) && this.#elsewhere(chunk))) continue;
      equals = holders < rarest ? 1 : equals + 1;
      rarest = holders;
      // Each of the equal chunks is chosen with the same probability.
      if (this.#random.fraction() * equals < 1) chosen = chunk;
    }
    return chosen ?? second;
  }

  #isLate(chunk: number, now: number): boolean {
    for (const { requested } of this.#peers.values()) {
      const at = requested.get(chunk);
      if (at !== undefined && now - at >= LAST_MS) return true;
    }
    return false;
  }

  /** Whether another visitor has the chunk and has not failed to send it. */
  #elsewhere(chunk: number): boolean {
    for (const { has, timedOut } of this.#peers.values())
      if (has.has(chunk) && !timedOut.has(chunk)) return true;
    return false;
  }

  /** Whether a request is pending and has not timed out. */
  #answered(peer: Peer, chunk: number): boolean {
    if (!peer.requested.delete(chunk)) return false;
    this.#pendingOf[chunk] = Math.max(0, (this.#pendingOf[chunk] ?? 0) - 1);
    return true;
  }

  #fewer(chunk: number): void {
    this.#holders[chunk] = Math.max(0, (this.#holders[chunk] ?? 0) - 1);
  }
}

/** Whether a request timed out. */
function wasLate({ timedOut }: Peer, chunk: number): boolean {
  const times = timedOut.get(chunk);
  if (times === undefined) return false;
  if (times > 1) timedOut.set(chunk, times - 1);
  else timedOut.delete(chunk);
  return true;
}
