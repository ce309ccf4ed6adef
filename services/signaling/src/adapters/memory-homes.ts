/** Requests between regions in memory, for tests. The contract suite checks that it behaves as NATS does. */
import { decodeHomeAnswer, decodeHomeRequest } from '@parley/protocol/decode';
import type { HomeAnswer, HomeRequest, HomeTerms } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import type { HomeBus } from '../core/ports.ts';

type Server = (request: HomeRequest) => Promise<HomeAnswer>;

export interface MemoryHomes {
  /** The bus of a pod of this region. */
  join(region: RegionId): HomeBus;
}

export function memoryHomes(): MemoryHomes {
  const servers = new Map<RegionId, Server[]>();
  const listeners: ((terms: HomeTerms) => void)[] = [];
  return {
    join: (region) => ({
      async ask(home, request, timeoutMs) {
        const [first, ...others] = servers.get(home) ?? [];
        if (first === undefined) return undefined;
        // The pods take turns.
        servers.set(home, [...others, first]);
        const decoded = decodeHomeRequest(JSON.stringify(request));
        const work: Promise<HomeAnswer> = decoded.ok
          ? first(decoded.message)
          : Promise.resolve({ type: 'refused', code: 'BAD_REQUEST' });
        const answer = await Promise.race([work, late(timeoutMs)]);
        const answered = answer && decodeHomeAnswer(JSON.stringify(answer));
        return answered?.ok === true ? answered.message : undefined;
      },
      announce(terms) {
        for (const listener of listeners) listener(terms);
      },
      onTerms: (listener) => void listeners.push(listener),
      serve(answer) {
        servers.set(region, [...(servers.get(region) ?? []), answer]);
      },
    }),
  };
}

const late = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
