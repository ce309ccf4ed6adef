/** Limits of the edge that a developer or a test sets by environment variables. */
interface Limit {
  readonly variable: string;
  readonly value: number;
}

/** By their placeholders in the chart's files/envoy.yaml; the chart's values edge.joinLimits, edge.addressLimits and edge.connections. */
export const requestLimits = {
  IDLE_TIMEOUT: { variable: 'PARLEY_EDGE_IDLE_SECONDS', value: 5 },
  // At 3 s the 10,000 silent connections of `make siege` fill the 9000 that the edge takes, and newcomers are reset.
  FIRST_BYTES: { variable: 'PARLEY_EDGE_FIRST_BYTES_SECONDS', value: 2 },
  KEEP_ALIVE: { variable: 'PARLEY_EDGE_KEEP_ALIVE_SECONDS', value: 60 },
  UNANSWERED: { variable: 'PARLEY_EDGE_UNANSWERED_SECONDS', value: 3 },
  // The edge stops floods. All of its rates are above those of the pods, which answer a herd with slots.
  JOIN_BURST: { variable: 'PARLEY_EDGE_JOIN_BURST', value: 20_000 },
  JOIN_PER_SECOND: { variable: 'PARLEY_EDGE_JOINS_PER_SECOND', value: 2000 },
  // Twice the pods' own 120 a minute for an address: each join may come a second time, with its slot.
  ADDRESS_JOINS_BURST: { variable: 'PARLEY_EDGE_ADDRESS_JOIN_BURST', value: 240 },
  ADDRESS_JOINS_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_JOINS_PER_SECOND', value: 4 },
  // An office resumes after a pod died, and once more after the next.
  ADDRESS_SOCKETS_BURST: { variable: 'PARLEY_EDGE_ADDRESS_SOCKET_BURST', value: 1200 },
  ADDRESS_SOCKETS_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_SOCKETS_PER_SECOND', value: 20 },
  ADDRESS_API_BURST: { variable: 'PARLEY_EDGE_ADDRESS_API_BURST', value: 600 },
  ADDRESS_API_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_API_PER_SECOND', value: 20 },
  ADDRESS_STREAMS_BURST: { variable: 'PARLEY_EDGE_ADDRESS_STREAM_BURST', value: 1000 },
  ADDRESS_STREAMS_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_STREAMS_PER_SECOND', value: 50 },
  ADDRESS_MEDIA_BURST: { variable: 'PARLEY_EDGE_ADDRESS_MEDIA_BURST', value: 600 },
  ADDRESS_MEDIA_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_MEDIA_PER_SECOND', value: 20 },
  // A first visit requests some tens of files, and a school has one address.
  ADDRESS_WEB_BURST: { variable: 'PARLEY_EDGE_ADDRESS_WEB_BURST', value: 5000 },
  ADDRESS_WEB_PER_SECOND: { variable: 'PARLEY_EDGE_ADDRESS_WEB_PER_SECOND', value: 200 },
} as const;

/** By their placeholders in the chart's files/log-budget.yaml; the chart's values edge.accessLog. */
export const logLimits = {
  LOG_LINES_BURST: { variable: 'PARLEY_EDGE_LOG_LINE_BURST', value: 1000 },
  LOG_LINES_PER_SECOND: { variable: 'PARLEY_EDGE_LOG_LINES_PER_SECOND', value: 50 },
} as const;

/** The values of the placeholders; throws with a message if a variable is not a whole number from 1 on. */
export function readLimits(limits: Record<string, Limit>, env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(limits).map(([placeholder, { variable, value }]) => {
      const limit = Number(env[variable] ?? value);
      if (!Number.isInteger(limit) || limit < 1)
        throw new Error(`${variable} takes a whole number from 1 on`);
      return [placeholder, String(limit)];
    }),
  );
}
