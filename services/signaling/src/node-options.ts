/**
 * What Node.js is given wherever a pod starts: its image (a test compares), `make up` and the benches. Without a bound the young generation grows
 * under load until the bytes of buffers in it, which V8 counts apart, set off a full collection six times a second: a third more CPU for each
 * directed message, with pauses of 40 ms, for as long as the load lasts.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=16', '--enable-source-maps'] as const;
