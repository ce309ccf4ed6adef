/** By which symbols the ids of a pod's visitors name it: so no pod keeps books of other pods' visitors. SPEC rule PAGE-9. */
import { createHash } from 'node:crypto';
import { TAG_SYMBOLS } from '@parley/protocol/pages';
import { symbols, type PodId } from '@parley/protocol/ids';

/** 35 bits of its SHA-256: of a thousand pods two share one with a chance of one in 70,000. */
export const tagOf = (pod: PodId): string =>
  symbols(createHash('sha256').update(pod).digest().subarray(0, TAG_SYMBOLS));
