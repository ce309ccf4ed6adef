import type { ComponentChildren } from 'preact';
import { Logo } from '../design/logo.tsx';
import { PageLink } from './page-link.tsx';

/** The header of pages outside a call: the logo links to the start page. */
export function SiteHead({ children }: { readonly children?: ComponentChildren }) {
  return (
    <header class="site-head">
      <PageLink class="logo-link" href="/" aria-label="Parley, to the start page">
        <Logo />
      </PageLink>
      {children}
    </header>
  );
}
