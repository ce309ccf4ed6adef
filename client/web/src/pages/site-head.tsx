import { Logo } from '../design/logo.tsx';
import { go } from '../navigate.ts';

/** The head of pages outside a call: the logo leads to the start page. */
export function SiteHead() {
  return (
    <header class="site-head">
      <a
        class="logo-link"
        href="/"
        aria-label="Parley, to the start page"
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          go('/');
        }}
      >
        <Logo />
      </a>
    </header>
  );
}
