/** Requests between regions about named rooms, over core NATS. SPEC rule HOME-1. */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { decodeHomeAnswer, decodeHomeRequest } from '@parley/protocol/decode';
import type { HomeAnswer } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import { homeSubject, homeTermsSubject } from '@parley/protocol/subjects';
import type { HomeBus } from '../core/ports.ts';

/** The pods of a region: each request reaches one of them. */
const QUEUE = 'home';
const REFUSED: HomeAnswer = { type: 'refused', code: 'BAD_REQUEST' };

export function natsHomes(connection: NatsConnection, region: RegionId): HomeBus {
  return {
    async ask(home, request, timeoutMs) {
      try {
        const subject = homeSubject(home);
        const answer = await connection.request(subject, JSON.stringify(request), { timeout: timeoutMs });
        const decoded = decodeHomeAnswer(answer.string());
        return decoded.ok ? decoded.message : undefined;
      } catch {
        // No pod of that region is subscribed, none answered in time, or NATS is disconnected.
        return undefined;
      }
    },
    announce: (terms) => connection.publish(homeTermsSubject, JSON.stringify(terms)),
    onTerms(listener) {
      connection.subscribe(homeTermsSubject, {
        callback(error, message) {
          const decoded = error === null ? decodeHomeRequest(message.string()) : undefined;
          if (decoded?.ok === true && decoded.message.type === 'terms') listener(decoded.message);
        },
      });
    },
    serve(answer) {
      connection.subscribe(homeSubject(region), {
        queue: QUEUE,
        callback(error, message) {
          if (error === null) void reply(message, answer);
        },
      });
    },
  };
}

async function reply(message: Msg, answer: Parameters<HomeBus['serve']>[0]): Promise<void> {
  try {
    const decoded = decodeHomeRequest(message.string());
    message.respond(JSON.stringify(decoded.ok ? await answer(decoded.message) : REFUSED));
  } catch {
    // The connection is closed: the region that asked gets no answer.
  }
}
