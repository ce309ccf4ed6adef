/**
 * A relay that is about to end tells whoever is there to go (MED-51), which the libraries for live video only write to the console,
 * with the token in it. The page hears of it instead: `goneAway` of the connection, made by whoever comes first, is resolved.
 */
import type { Plugin } from 'vite';

const CONNECTION = /@moq\/net\/lite\/connection\.js$/;
/** The older of the libraries names no version over WebSocket, and gets one without GOAWAY. */
const CONNECT = /@moq\/net\/connection\/connect\.js$/;
const NAMES_NONE = 'new Session(url);';
const NAMES_ONE = "new Session(url, { protocols: ['moq-lite-04'], versions: { 'moq-lite-04': null } });";
const LOGGED = 'console.info("received goaway:", msg.uri)';
const TOLD = '(this.goneAway ??= Promise.withResolvers()).resolve()';

export function goawayToThePage(): Plugin {
  return {
    name: 'parley-goaway-to-the-page',
    apply: 'build',
    transform: {
      filter: { id: [CONNECTION, CONNECT] },
      handler(code, id) {
        if (CONNECT.test(id)) return { code: code.replace(NAMES_NONE, NAMES_ONE), map: null };
        if (!code.includes(LOGGED)) this.error(`${id} no longer hears GOAWAY where this plugin knows it.`);
        return { code: code.replace(LOGGED, TOLD), map: null };
      },
    },
  };
}
