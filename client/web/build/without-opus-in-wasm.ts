/**
 * In a browser without an audio decoder the libraries for live video load one in WebAssembly, which the content security policy refuses. This
 * plugin removes it.
 */
import type { Plugin } from 'vite';

const PACKAGES = /^(?:@libav\.js\/variant-opus-af|@kixelated\/libavjs-webcodecs-polyfill)$/;
const NOTHING = '\0no-wasm';

export function withoutOpusInWasm(): Plugin {
  return {
    name: 'parley-without-opus-in-wasm',
    enforce: 'pre',
    resolveId: { filter: { id: PACKAGES }, handler: () => NOTHING },
    load: {
      filter: { id: new RegExp(`^${NOTHING}$`) },
      handler: () =>
        "export const load = () => Promise.reject(new Error('this browser has no WebCodecs for sound'));",
    },
  };
}
