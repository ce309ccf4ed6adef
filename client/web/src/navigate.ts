/** The address bar as a signal: going to a page neither reloads the code nor loses the back button. */
import { signal } from '@preact/signals';

export const path = signal(location.pathname);

addEventListener('popstate', () => {
  path.value = location.pathname;
});

export function go(to: string, fragment = ''): void {
  if (to !== location.pathname) history.pushState(null, '', `${to}${fragment}`);
  path.value = to;
}
