/** The symbols in a visitor id that identify its pod, so that no pod needs to know the visitors of others. SPEC rule PAGE-9. */
import { TAG_SYMBOLS } from '@parley/protocol/pages';
import { symbols, type PodId } from '@parley/protocol/ids';
import { score } from '../rendezvous.ts';

/** 35 bits from two hashes of the pod's name: of a thousand pods, two share a tag with a probability of one in 70,000. */
export function tagOf(pod: PodId): string {
  const hash = new DataView(new ArrayBuffer(8));
  hash.setUint32(0, score(pod, 'visitors'));
  hash.setUint32(4, score(pod, 'pages'));
  return symbols(new Uint8Array(hash.buffer, 0, TAG_SYMBOLS));
}
