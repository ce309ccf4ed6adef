import type { Link } from '@parley/sdk/call';

/** Three bars: the number of filled ones shows the quality of the connection. */
export function LinkBars({ link }: { readonly link: Link }) {
  const lit = litBars(link);
  return (
    <svg class={`bars lit-${lit}`} viewBox="0 0 18 16" aria-hidden="true">
      {[0, 1, 2].map((bar) => (
        <rect
          key={bar}
          class={bar < lit ? 'lit' : ''}
          x={1 + bar * 6}
          y={10 - bar * 4}
          width="4"
          height={5 + bar * 4}
          rx="1.5"
        />
      ))}
    </svg>
  );
}

function litBars(link: Link): number {
  if (link.status !== 'connected') return 0;
  switch (link.quality) {
    case 'good':
    case 'unknown':
      return 3;
    case 'fair':
      return 2;
    case 'poor':
      return 1;
    default:
      return link.quality satisfies never;
  }
}
