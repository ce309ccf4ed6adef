import '../../src/design/styles.ts';
import { render } from 'preact';
import { setOwnerKey } from '../../src/memory/owner-key.ts';
import { STATES } from './states.tsx';

declare global {
  /** For the tests that visit all states. */
  var galleryStates: readonly string[] | undefined;
}

globalThis.galleryStates = Object.keys(STATES);
setOwnerKey('book-club@eu', 'a key');

const name = new URLSearchParams(location.search).get('state') ?? '';
const root = document.getElementById('app');
if (root) render(STATES[name]?.() ?? <Index />, root);

function Index() {
  return (
    <ul>
      {Object.keys(STATES).map((state) => (
        <li key={state}>
          <a href={`?state=${state}`}>{state}</a>
        </li>
      ))}
    </ul>
  );
}
