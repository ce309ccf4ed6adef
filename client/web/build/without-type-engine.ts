/**
 * TypeBox computes types from other types and checks formats like `idn-hostname`. The schemas of the protocol need neither, and no bundler finds
 * that out: this plugin leaves both out of the pages, a tenth of what a call loads.
 */
import type { Plugin } from 'vite';

const ENGINE = /[/\\]typebox[/\\]build[/\\]type[/\\]engine[/\\]instantiate\.mjs$/;
const FORMATS = /[/\\]typebox[/\\]build[/\\]format[/\\]index\.mjs$/;

const LEFT_OUT = `const leftOut = () => { throw new Error('not in this build'); };`;
/** A schema whose types are computed does not load. None of the protocol has a format, which one of its tests checks. */
const WITHOUT_ENGINE = `${LEFT_OUT}
export const CanInstantiate = () => true;
export { leftOut as State, leftOut as Instantiate, leftOut as InstantiateType, leftOut as InstantiateTypes, leftOut as InstantiateElements, leftOut as InstantiateProperties };`;
const WITHOUT_FORMATS = `${LEFT_OUT}
export const Format = { Test: leftOut, Has: leftOut, Get: leftOut };`;

export function withoutTypeEngine(): Plugin {
  return {
    name: 'parley-without-type-engine',
    load: {
      filter: { id: [ENGINE, FORMATS] },
      handler: (id) => (ENGINE.test(id) ? WITHOUT_ENGINE : WITHOUT_FORMATS),
    },
  };
}
