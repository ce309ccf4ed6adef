/** By which symbols the ids of a pod's visitors name it: so no pod keeps books of other pods' visitors. SPEC rule PAGE-9. */
import { TAG_SYMBOLS } from '@parley/protocol/pages';
import { symbols, type PodId } from '@parley/protocol/ids';
import { score } from '../rendezvous.ts';

/** 35 bits of two hashes of its name: of a thousand pods two share one with a chance of one in 70,000. */
export function tagOf(pod: PodId): string {
  const hash = new DataView(new ArrayBuffer(8));
  hash.setUint32(0, score(pod, 'visitors'));
  hash.setUint32(4, score(pod, 'pages'));
  return symbols(new Uint8Array(hash.buffer, 0, TAG_SYMBOLS));
}
