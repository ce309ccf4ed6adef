/** Tells a hidden page when to show the next frame: its own timers run once a second, those of workers normally. */

/** Eight frames a second are the rate of a shared screen. */
const TICK_MS = 125;

setInterval(() => postMessage(null), TICK_MS);
