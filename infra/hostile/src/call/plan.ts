/** The messages to and from the process of the well-behaved call. */

export interface CallPlan {
  readonly edge: string;
  readonly room: string;
  /** How often a newcomer joins. */
  readonly newcomerEveryMs: number;
}

/** A measure and when it was taken, Unix ms. */
export interface Moment {
  readonly ms: number;
  readonly at: number;
}

export interface CallReport {
  readonly seconds: number;
  /** Frames sent by all four, and of those the ones that arrived. */
  readonly framesSent: number;
  readonly framesReceived: number;
  /** The longest time between two frames of one participant to the next, and the 99th percentile. */
  readonly gapMax: Moment;
  readonly gapP99Ms: number;
  readonly chatLines: number;
  /** From sending a line until the other three have it: the longest. */
  readonly chatMax: Moment;
  readonly chatP50Ms: number;
  /** `away`, `left`, a closed socket, a line that was refused: none is expected. */
  readonly disturbances: readonly string[];
  readonly newcomers: number;
  readonly newcomerMax: Moment;
  readonly newcomerP50Ms: number;
  readonly newcomerFailures: readonly string[];
  /** How late this process itself was: what it measures is no more exact than that. */
  readonly ownDelayMaxMs: number;
}

export type ToCall = { readonly type: 'start'; readonly plan: CallPlan } | { readonly type: 'stop' };
export type FromCall = { readonly type: 'ready' } | { readonly type: 'report'; readonly report: CallReport };
