/** JSMpeg's package adds a style for its own buttons to the page when it is loaded. They are not used, and the security policy refuses it. */
import type { Plugin } from 'vite';

const PACKAGE = /@cycjimmy\/jsmpeg-player\/dist\/[^/]+\.js$/;
const CALL = /^styleInject\(css_248z\);$/m;

export function withoutInjectedStyle(): Plugin {
  return {
    name: 'parley-without-injected-style',
    transform: {
      filter: { id: PACKAGE },
      handler(code) {
        if (!CALL.test(code)) this.error('JSMpeg no longer injects its style where this plugin knows it.');
        return { code: code.replace(CALL, ''), map: null };
      },
    },
  };
}
