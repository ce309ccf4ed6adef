/** The fields of the report of `parley-load media` that the bench reads. */
export interface Outcome {
  /** Of the whole run, as are all counts up to `closed`. */
  readonly expected: number;
  readonly delivered: number;
  readonly missing: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  readonly corrupt: number;
  readonly extra: number;
  readonly skippedGroups: number;
  readonly freezes: number;
  /** Sessions and broadcasts that were lost. */
  readonly closed: number;
  /** The measured part; latency and processor time are of it, too. */
  readonly steady: { readonly seconds: number; readonly delivered: number; readonly bytes: number };
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Share of its core. */
  readonly generator: { readonly share: number };
  /** Memory at the end. */
  readonly server: { readonly cpuSeconds: number; readonly residentKb: number };
  /** What neither the relays nor the generator used, in cores, over the whole run. The bench itself finds that out. */
  readonly othersUse: number;
}
