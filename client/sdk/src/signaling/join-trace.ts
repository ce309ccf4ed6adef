/** Names each join for the traces of the service: W3C Trace Context. SPEC rules TRACE-1 and TRACE-3. */
import type { CallOptions } from '../call.ts';
import { toHex } from '../pages/base64.ts';
import type { Ports } from '../ports.ts';

export interface JoinTrace {
  /** `traceparent` of a request to join at this origin; `null`: the request must not have it. */
  readonly next: (api: string, isFirst: boolean) => string | null;
  /** In ms, since the join began. */
  readonly elapsed: () => number;
}

/** The first join begins now. */
export function joinTrace(
  { traceparent, api: own }: Pick<CallOptions, 'traceparent' | 'api'>,
  { origin, random, clock }: Pick<Ports, 'origin' | 'random' | 'clock'>,
): JoinTrace {
  let startedAt = clock.now();
  return {
    next(api, isFirst) {
      if (!isFirst) startedAt = clock.now();
      // Of other origins only that of the page's own choice: an older service of another region does not allow the header.
      if (traceparent !== undefined) return api === own ? traceparent : null;
      if (api !== origin) return null;
      // `00`: the client does not record its span. The service writes it.
      return `00-${toHex(random.bytes(16))}-${toHex(random.bytes(8))}-00`;
    },
    // The most that the message may have.
    elapsed: () => Math.min(600_000, Math.round(clock.now() - startedAt)),
  };
}
