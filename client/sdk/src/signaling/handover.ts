/**
 * Decides whether a client that lost its socket resumes in another region. Its own attempts go on meanwhile, and have a head start: a pod that ended
 * is replaced long before. SPEC rule REG-9.
 */
import type { Region } from '@parley/protocol/http';
import type { Ports } from '../ports.ts';
import { fastest } from './nearest.ts';
import { probe, type Probed } from './probe.ts';

/** From the first attempt to resume; no client leaves its region before. */
const HEAD_START_MS = 600;
/** Most attempts to resume need less: then all of those who lost a pod send no probes. */
const PROBE_AFTER_MS = 250;

export class Handover {
  readonly #ports: Pick<Ports, 'fetch' | 'clock'>;
  readonly #onMove: (to: Region) => void;
  #end: (() => void) | null = null;

  constructor(ports: Pick<Ports, 'fetch' | 'clock'>, onMove: (to: Region) => void) {
    this.#ports = ports;
    this.#onMove = onMove;
  }

  /** At each attempt to resume. Does nothing while a decision is pending. */
  begin(regions: readonly Region[], current: Region): void {
    if (this.#end !== null) return;
    const { clock } = this.#ports;
    const results: Probed[] = [];
    let mayMove = false;
    let stop = (): void => undefined;
    const decide = (): void => {
      const own = results.find(({ region }) => region.name === current.name)?.ms ?? null;
      const other = fastest(results.filter(({ region }) => region.name !== current.name));
      if (own !== null || results.length === regions.length) this.end();
      if (own === null && other !== undefined && mayMove) {
        this.end();
        this.#onMove(other.region);
      }
    };
    const cancelProbes = clock.after(PROBE_AFTER_MS, () => {
      // One request: the first answer of its own region is enough to stay, and thousands may ask.
      stop = probe(regions, this.#ports, 1, (result) => {
        results.push(result);
        if (mayMove) decide();
      });
    });
    const cancelStart = clock.after(HEAD_START_MS, () => {
      mayMove = true;
      decide();
    });
    this.#end = () => {
      cancelProbes();
      cancelStart();
      stop();
    };
  }

  end(): void {
    this.#end?.();
    this.#end = null;
  }
}
