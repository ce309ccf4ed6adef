/** The address bar as a signal: navigation does not reload the code, and the back button works. */
import { signal } from '@preact/signals';

export const path = signal(location.pathname);

addEventListener('popstate', () => {
  path.value = location.pathname;
});

export function go(to: string, fragment = ''): void {
  if (to !== location.pathname) history.pushState(null, '', `${to}${fragment}`);
  path.value = to;
}
