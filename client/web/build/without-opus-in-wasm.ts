/** Where a browser has no decoder for sound the libraries for live video load one in WebAssembly, which the security policy refuses. */
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
