import { defineConfig } from 'vite';
import { precompress } from './build/precompress.ts';

/** Where `npm run dev` finds the API: the edge of `make up`. */
const edge = `http://127.0.0.1:${process.env.PARLEY_EDGE_PORT ?? '8080'}`;

export default defineConfig({
  plugins: [precompress()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A data: URL would need its own entry in the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // The schemas of @parley/protocol are only needed where messages are decoded; without this every page would carry them.
      treeshake: { manualPureFunctions: ['Type'] },
    },
  },
  server: { proxy: { '/v1': { target: edge, ws: true } } },
});
