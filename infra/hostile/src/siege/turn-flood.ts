/** Participants of many networks that make as many allocations on the TURN server as they can. */
import type { Arena } from '../arena.ts';
import { TurnClient } from '../../../../services/turn/test/turn-client.ts';
import { credentialOf, turnServer } from '../turn-login.ts';

export interface TurnReport {
  granted: number;
  refused: number;
  unanswered: number;
}

const CLIENTS_AT_ONCE = 10;

/** Continues until it is stopped. */
export function floodTurn(arena: Arena, from: readonly string[]): { stop(): Promise<TurnReport> } {
  const report: TurnReport = { granted: 0, refused: 0, unanswered: 0 };
  const until = new AbortController();
  const flooding = from.map(async (address) => {
    const { who, login } = await credentialOf(arena, address);
    while (!until.signal.aborted) {
      const clients = await Promise.all(
        Array.from({ length: CLIENTS_AT_ONCE }, () => TurnClient.open(turnServer(arena), login)),
      );
      const answers = await Promise.allSettled(clients.map((client) => client.allocate()));
      for (const answer of answers)
        if (answer.status === 'rejected') report.unanswered += 1;
        else if (answer.value.outcome === 'ok') report.granted += 1;
        else report.refused += 1;
      await Promise.allSettled(clients.map((client) => client.close()));
    }
    who.drop();
  });
  const all = Promise.allSettled(flooding);
  return {
    async stop() {
      until.abort();
      await all;
      return report;
    },
  };
}
