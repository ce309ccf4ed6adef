import type { Site } from './site.ts';

/** What makes alerts fire. */
export interface Cause {
  readonly name: string;
  /** Those that fire, and no others. */
  readonly alerts: readonly string[];
  /** Those of them that look at minutes, and hold on for so long after the end. */
  readonly overMinutes?: readonly string[];
  /** Resolves when the cause is there, with what ends it. */
  readonly begin: (site: Site) => Promise<() => Promise<unknown>>;
}
