/** Builds the gallery: every page and state with invented data. Only tests build it; it is no part of the application. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { ownWorklets } from '../../build/own-worklets.ts';
import { precompress } from '../../build/precompress.ts';
import { withoutOpusInWasm } from '../../build/without-opus-in-wasm.ts';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The frame that shows pages is a separate file.
  publicDir: fileURLToPath(new URL('../../public', import.meta.url)),
  logLevel: 'error',
  plugins: [precompress(), ownWorklets(), withoutOpusInWasm()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
