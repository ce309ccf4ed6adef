/** Tells a page that nobody looks at when to show the next picture: its own timers come once a second then, those of workers as always. */

/** Eight a second are what a screen is shared with. */
const TICK_MS = 125;

setInterval(() => postMessage(null), TICK_MS);
