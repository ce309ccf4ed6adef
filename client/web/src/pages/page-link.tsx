/** A link to another page of the application: without a reload, unless the user opens it in a new tab or window. */
import type { ComponentProps } from 'preact';
import { go } from '../navigate.ts';

export type PageLinkProps = ComponentProps<'a'> & { readonly href: string };

export function PageLink({ href, ...rest }: PageLinkProps) {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go(href);
      }}
    />
  );
}
