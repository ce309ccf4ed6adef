/**
 * A relay that drains sends GOAWAY (MED-51), which the libraries for live video only log to the console, with the token in the text. This plugin
 * replaces the log by a resolved promise, `goaway` of the connection, which the page awaits. The first of library and page creates it.
 */
import type { Plugin } from 'vite';

const CONNECTION = /@moq\/net\/lite\/connection\.js$/;
/** The older of the libraries names no version over WebSocket, and the relay then selects one without GOAWAY. */
const CONNECT = /@moq\/net\/connection\/connect\.js$/;
const NAMES_NONE = 'new Session(url);';
const NAMES_ONE = "new Session(url, { protocols: ['moq-lite-04'], versions: { 'moq-lite-04': null } });";
const LOGGED = 'console.info("received goaway:", msg.uri)';
const TOLD = '(this.goaway ??= Promise.withResolvers()).resolve()';

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
