/** Builds the gallery: every page and state with made-up data. Only tests do; it is no part of the application's build. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { ownWorklets } from '../../build/own-worklets.ts';
import { precompress } from '../../build/precompress.ts';
import { withoutOpusInWasm } from '../../build/without-opus-in-wasm.ts';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The frame that shows what others made is a file of its own.
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
