/** The fields of the report of `parley-load room` that the bench reads. */
export interface Report {
  /** Unix times of the measured part. All counts are of what was made within. */
  readonly window: {
    readonly beganMs: number;
    readonly endedMs: number;
    readonly seconds: number;
    readonly deliveriesPerSecond: number;
    readonly megabitsPerSecond: number;
  };
  readonly pictures: { readonly expected: number; readonly delivered: number };
  readonly voices: { readonly expected: number; readonly delivered: number };
  /** Share of all frames that never came, and how that is spread over participants. */
  readonly loss: {
    readonly share: number;
    readonly p50: number;
    readonly p95: number;
    readonly max: number;
  };
  readonly corrupt: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  readonly extra: number;
  /** Sessions and tracks that were lost. */
  readonly closed: number;
  readonly delayMs: { readonly p50: number; readonly p95: number; readonly p99: number };
  readonly rttMs: { readonly p50: number; readonly p95: number };
  readonly jitterMs: { readonly mean: number; readonly p50: number; readonly p95: number };
  readonly freezes: { readonly count: number; readonly longestMs: number };
  readonly lateJoins: number;
  /** People on each, by its address. */
  readonly relays: Readonly<Record<string, number>>;
  /** Share of its core. */
  readonly generator: { readonly share: number };
  readonly exact: boolean;
}

/** What one relay used in the measured part. */
export interface RelayUse {
  readonly name: string;
  /** Of a processor. */
  readonly cpu: number;
  /** Share of the time in which it wanted to run and was not let; 0 without a limit. */
  readonly throttled: number;
  readonly residentMb: number;
}

export interface Outcome extends Report {
  readonly uses: readonly RelayUse[];
  /** What neither the stack nor the generator used, in cores, over the whole run. */
  readonly othersUse: number;
}
