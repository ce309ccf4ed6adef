import { defineConfig, type ProxyOptions } from 'vite';
import { goawayToThePage } from './build/goaway-to-the-page.ts';
import { ownWorklets } from './build/own-worklets.ts';
import { precompress } from './build/precompress.ts';
import { withoutOpusInWasm } from './build/without-opus-in-wasm.ts';
import { withoutTypeEngine } from './build/without-type-engine.ts';

/** Where `npm run dev` finds the API: the edge of `make up`. */
const edge = `http://127.0.0.1:${process.env.PARLEY_EDGE_PORT ?? '8080'}`;

/** As the edge does: under /streams sockets and the API go to the relays, everything else is a page. */
const proxy: Record<string, ProxyOptions> = {
  '/v1': { target: edge, ws: true },
  '/media': { target: edge, ws: true },
  '/streams/v1': { target: edge },
  '/streams': {
    target: edge,
    ws: true,
    bypass: ({ headers }) => (headers.upgrade ? undefined : '/index.html'),
  },
};

export default defineConfig({
  plugins: [precompress(), ownWorklets(), withoutOpusInWasm(), withoutTypeEngine(), goawayToThePage()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A data: URL would need its own entry in the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: [
          // The schemas of @parley/protocol are only needed where messages are decoded; without this every page would carry them.
          'Type',
          // The MoQ library writes a line for each subscription.
          'console.debug',
          'console.info',
          'console.warn',
        ],
      },
      output: {
        codeSplitting: {
          groups: [
            // One file packs better than what the start page and later parts share in files of their own.
            { name: 'first', tags: ['$initial'] },
            { name: 'stage', test: /[/\\]src[/\\]streams[/\\]/, minShareCount: 2 },
            // What the call checks messages with is not for the pages of live video.
            { name: 'moq', test: /[/\\]node_modules[/\\](?!typebox[/\\])/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy },
  preview: { proxy },
});
