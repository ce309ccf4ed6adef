/** The layout of a page that plays one stream or broadcast: header, content, and figures that the user can hide. */
import type { ComponentChild, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from '../design/copy-button.tsx';
import { Logo } from '../design/logo.tsx';
import { browserStore } from '../memory/storage.ts';
import { PageLink } from '../pages/page-link.tsx';
import { usePageTitle } from '../pages/page-title.ts';
import { StreamIcon } from './stream-icon.tsx';
import './viewer.css';

interface ViewerProps {
  readonly title: string;
  readonly home: { readonly href: string; readonly label: string };
  /** The address for other viewers. */
  readonly link: string;
  readonly status: ComponentChild;
  readonly figures: ComponentChild;
  /** `data-*` attributes, for tests. */
  readonly data: Readonly<Record<`data-${string}`, string>>;
  readonly children: ComponentChildren;
}

export function Viewer({ title, home, link, status, figures, data, children }: ViewerProps) {
  const heading = usePageTitle(`${title} · Parley`);
  const [shown, toggle] = useStoredToggle('parley.stream-figures');
  return (
    <div class={`viewer${shown ? ' with-panel' : ''}`} {...data}>
      <header class="viewer-head">
        <PageLink class="logo-link" href={home.href} aria-label={home.label}>
          <Logo />
        </PageLink>
        <h1 class="stream-topic" ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {status}
        <div class="viewer-actions">
          <CopyButton text={link} label="Copy link" testid="copy-link" />
          <ToggleButton label="Figures" testid="toggle-figures" on={shown} onToggle={toggle}>
            <StreamIcon name="chart" />
          </ToggleButton>
        </div>
      </header>
      <main class="viewer-main">{children}</main>
      {shown && figures}
    </div>
  );
}

interface ToggleButtonProps {
  readonly label: string;
  readonly testid: string;
  readonly on: boolean;
  readonly onToggle: () => void;
  readonly children: ComponentChildren;
}

export function ToggleButton({ label, testid, on, onToggle, children }: ToggleButtonProps) {
  return (
    <button
      type="button"
      class="button icon-only"
      aria-label={label}
      title={label}
      aria-pressed={on}
      data-testid={testid}
      onClick={onToggle}
    >
      {children}
    </button>
  );
}

/** A setting of this browser that is on unless the user switched it off. */
export function useStoredToggle(key: string): readonly [boolean, () => void] {
  const [on, setOn] = useState(() => browserStore.read(key) !== 'off');
  const toggle = (): void => {
    browserStore.write(key, on ? 'off' : null);
    setOn(!on);
  };
  return [on, toggle];
}
