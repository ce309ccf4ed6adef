/** The fields of the report of one row of `parley-load bench` that the bench reads. */
export interface Outcome {
  readonly topics: number;
  /** Of the whole run, as are all counts up to `unsent`. */
  readonly expected: number;
  readonly delivered: number;
  readonly missing: number;
  readonly duplicated: number;
  readonly corrupt: number;
  readonly outOfOrder: number;
  readonly extra: number;
  /** Sockets the server ended. */
  readonly closed: number;
  /** Messages that were due and that the server did not take. */
  readonly unsent: number;
  /** The measured part; latency and processor time are of it, too. */
  readonly steady: { readonly seconds: number; readonly delivered: number; readonly bytes: number };
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Share of its core. */
  readonly generator: { readonly share: number };
  /** Memory at the end. */
  readonly server: { readonly cpuSeconds: number; readonly residentKb: number };
  /** What neither the server nor the generator used, in cores, over the whole run. The bench itself finds that out. */
  readonly othersUse: number;
}
