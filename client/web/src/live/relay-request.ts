/**
 * Asks the service for a relay before every connection, because the answer may change (MEDIA-6). Where the region of the page does not answer, or has no pod or
 * no relay, the other regions are asked (MEDIA-26).
 */
import type { Region } from '@parley/protocol/http';
import type { AssignmentAnswer as SdkAnswer, RelayAssignment } from '@parley/sdk/sfu/relay-link';
import { readRegions } from '../rooms-api.ts';
import type { DisconnectReason } from '../streams/disconnect-reasons.ts';
import { REFUSALS, refusalOf, UNREACHABLE } from './refusals.ts';

export type RelayAnswer = SdkAnswer<DisconnectReason>;

/**
 * The service answers from memory. If it does not, the connection that the browser keeps may lead to a dead edge until TCP times out. Then it is asked
 * again without credentials, which are not needed here, because browsers use another connection for that; the first answer counts.
 */
const AGAIN_AFTER_MS = 1000;
const ANSWERS_WITHIN_MS = 7000;
/** A new connection to a far region takes four round trips. */
const OTHERS_AFTER_MS = 1500;
/** Another region may answer. */
const OF_THIS_REGION: ReadonlySet<DisconnectReason | undefined> = new Set([
  UNREACHABLE,
  // Its edge finds no pod.
  REFUSALS['NOT_READY'],
  REFUSALS['RELAY_UNAVAILABLE'],
]);

/** The relays of one broadcast, for those who watch it or, with `publish`, for its publisher. */
export class LiveRelays {
  readonly #name: string;
  readonly #publish: boolean;
  #others: readonly Region[] | undefined;

  constructor(name: string, publish: boolean) {
    this.#name = name;
    this.#publish = publish;
  }

  /** `exclude`: the address of the relay that was lost or drains (MEDIA-10). Never rejects. */
  async request(exclude?: string): Promise<RelayAnswer> {
    const own = this.#ask('', exclude);
    const others = this.#findOthers();
    const first = await Promise.race([own, after(OTHERS_AFTER_MS)]);
    if (first !== undefined && !('refused' in first && OF_THIS_REGION.has(first.refused))) return first;
    const asked = [own, ...(await others).map(({ url }) => this.#ask(url, exclude))];
    return Promise.any(asked.map(assigned)).catch(() => own);
  }

  /** Found while the region of the page answers, for when it does not. */
  async #findOthers(): Promise<readonly Region[]> {
    if (this.#others === undefined) {
      const list = await readRegions();
      if (list.ok) this.#others = list.value.regions.filter(({ name }) => name !== list.value.region);
    }
    return this.#others ?? [];
  }

  /** `origin`: of the API, empty for that of the page. */
  async #ask(origin: string, exclude: string | undefined): Promise<RelayAnswer> {
    const url = `${origin}/v1/live/${encodeURIComponent(this.#name)}`;
    try {
      const answer = await post(url, JSON.stringify({ publish: this.#publish, exclude }));
      const body: unknown = await answer.json().catch(() => null);
      // The answer comes from our own installation.
      if (answer.ok && body !== null) return { assignment: at(origin, body as RelayAssignment) };
      return { refused: refusalOf(codeIn(body)), afterMs: retryAfterMs(answer) };
    } catch {
      return { refused: UNREACHABLE, afterMs: null };
    }
  }
}

async function assigned(asked: Promise<RelayAnswer>): Promise<RelayAnswer> {
  const answer = await asked;
  if ('refused' in answer) throw new Error(answer.refused.title);
  return answer;
}

/** The edge of its region leads to the relay. */
function at(origin: string, assignment: RelayAssignment): RelayAssignment {
  return origin === '' ? assignment : { ...assignment, relay: { ...assignment.relay, api: origin } };
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

async function post(url: string, body: string): Promise<Response> {
  const send = (credentials: RequestCredentials): Promise<Response> => {
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    return fetch(url, { method: 'POST', headers, body, credentials, signal });
  };
  const first = send('same-origin');
  const early = await Promise.race([first.catch(() => undefined), after(AGAIN_AFTER_MS)]);
  return early ?? Promise.any([first, send('omit')]);
}

function codeIn(body: unknown): string {
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return typeof code === 'string' ? code : '';
}

function retryAfterMs(answer: Response): number | null {
  const seconds = Number.parseFloat(answer.headers.get('retry-after') ?? '');
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
