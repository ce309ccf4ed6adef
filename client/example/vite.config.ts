import { defineConfig } from 'vite';

/** The edge of `make up`: the page and the API have the same origin, as in an installation. */
const edge = `http://127.0.0.1:${process.env['PARLEY_EDGE_PORT'] ?? '8080'}`;

export default defineConfig({
  server: { proxy: { '/v1': { target: edge, ws: true } } },
});
