/** Why there is no connection, and when the page tries again. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DisconnectReason } from './disconnect-reasons.ts';

interface ConnectionProblemProps {
  readonly reason: DisconnectReason;
  /** Shown small, above the last content. */
  readonly banner: boolean;
  readonly children: ComponentChildren;
}

export function ConnectionProblem({ reason, banner, children }: ConnectionProblemProps) {
  return (
    <div class={banner ? 'stage-banner' : 'stage-note'} role="alert" data-testid="trouble">
      <div>
        <h2>{reason.title}</h2>
        <p>{reason.body}</p>
      </div>
      <div class="stage-note-actions">{children}</div>
    </div>
  );
}

export function Countdown({ until }: { readonly until: number }) {
  const left = (): number => Math.max(0, Math.ceil((until - performance.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 250);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <p class="stage-countdown" role="timer">
      {seconds > 0 ? `Next try in ${seconds} s` : 'Trying now'}
    </p>
  );
}
