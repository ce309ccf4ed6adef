/**
 * The E-model of ITU-T G.107 (06/2015) with its default values, for voices in packets of 20 ms, and without echo, which browsers cancel: of the
 * impairments by delay only Idd, and not Idte and Idle. SPEC rule QUAL-4.
 */

/** R without delay and loss: the default values together. */
const BASE = 93.2;
/** A frame of 20 ms and Opus' look-ahead of 6.5 ms (RFC 6716, 2). */
const CODEC_MS = 26.5;
/** Robustness against random loss of G.711 with concealment (G.113, appendix I). Ie is 0. */
const ROBUSTNESS = 25.1;
/** Up to this delay, one way, it is unnoticed. */
const UNNOTICED_MS = 100;

/** `delayMs`: one way, of network and buffer. `loss`: the share of lost packets, 0 to 1. Returns 1 (worst) to 4.4. */
export function meanOpinionScore({
  delayMs,
  loss,
}: {
  readonly delayMs: number;
  readonly loss: number;
}): number {
  const r = BASE - delayImpairment(delayMs + CODEC_MS) - lossImpairment(100 * loss);
  if (r <= 0) return 1;
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6);
}

/** Idd (7-27). */
function delayImpairment(ms: number): number {
  if (ms <= UNNOTICED_MS) return 0;
  const x = Math.log2(ms / UNNOTICED_MS);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}

/** Ie-eff (7-29) for random loss, in percent. */
const lossImpairment = (percent: number): number => (95 * percent) / (percent + ROBUSTNESS);
