/**
 * The libraries for live video contain their audio worklets as text and load them from `blob:` URLs, which the content security policy refuses.
 * This plugin emits them as files.
 */
import type { Plugin } from 'vite';

const PACKAGE = /@moq\/(?:watch|publish)\/[^/]+\.js$/;
const WORKLET =
  /(\w+) = new Blob\(\[("(?:[^"\\]|\\.)*")\], \{ type: "application\/javascript" \}\), (\w+) = URL\.createObjectURL\(\1\)/;

export function ownWorklets(): Plugin {
  return {
    name: 'parley-own-worklets',
    apply: 'build',
    transform: {
      filter: { id: PACKAGE, code: 'URL.createObjectURL' },
      handler(code, id) {
        const [found, , text, address] = WORKLET.exec(code) ?? [];
        if (found === undefined || text === undefined)
          return this.error(`${id} no longer has its worklet where this plugin knows it.`);
        // The text is a JavaScript string in double quotes, which is valid JSON.
        const source = JSON.parse(text) as string;
        const file = this.emitFile({ type: 'asset', name: 'worklet.js', source });
        return {
          code: code.replace(found, () => `${address} = import.meta.ROLLUP_FILE_URL_${file}`),
          map: null,
        };
      },
    },
  };
}
