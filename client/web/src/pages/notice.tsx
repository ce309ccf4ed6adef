import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../design/icon.tsx';
import './notice.css';
import { usePageTitle } from './page-title.ts';
import { SiteHead } from './site-head.tsx';

export interface NoticeProps {
  readonly icon: IconName;
  readonly mood: 'goodbye' | 'wait' | 'closed' | 'fault';
  readonly title: string;
  readonly children: ComponentChildren;
  readonly testid?: string;
}

/** A page with one message and its next steps. */
export function Notice({ icon, mood, title, children, testid }: NoticeProps) {
  const heading = usePageTitle(`${title} · Parley`);
  return (
    <div class="notice" data-testid={testid}>
      <SiteHead />
      <main class="notice-main">
        <div class={`notice-card ${mood}`}>
          <div class="notice-icon">
            <Icon name={icon} />
          </div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {children}
        </div>
      </main>
    </div>
  );
}
