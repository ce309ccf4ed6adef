/** How far pods are from each other, and how their clocks differ. */
export interface Topology {
  /** From one pod to another, in ms; a pod's own messages come back over its server. */
  latencyMs(from: string, to: string): number;
  isNear(from: string, to: string): boolean;
  /** How long a new subscription stays unknown beyond its own group. Asked once for each subscription. */
  interestMs(): number;
  /** What a pod's clock shows beyond the world's when it starts. Asked once for each start. */
  clockAheadMs(): number;
}

const LATENCY_MS = 1;

/** One server beside all pods, and one clock. */
export const TOGETHER: Topology = {
  latencyMs: () => LATENCY_MS,
  isNear: () => true,
  interestMs: () => 0,
  clockAheadMs: () => 0,
};
