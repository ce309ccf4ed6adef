/**
 * The options of Node.js wherever a pod starts: its image (a test compares), `make up` and the benches. Without a bound on the semi-space, the young
 * generation grows under load until its external buffers, which V8 counts apart, trigger a full collection six times a second. That takes a third
 * more CPU for each directed message, with pauses of 40 ms, for as long as the load lasts. Bounds of 16 and 8 MB
 * take the same CPU, and with 8 MB less of the young generation counts for each idle connection.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=8', '--enable-source-maps'] as const;
