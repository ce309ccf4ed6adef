/** Shows a topic of text: its last messages, the newest at the end. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clock, grouped, size } from './amounts.ts';
import { LINES, type Line } from './lines.ts';
import './log.css';
import { Sign } from './sign.tsx';
import type { StreamView } from './stream-session.ts';

/** Within this distance from the end the list follows new messages. */
const AT_END_PX = 40;

export function LinesView({ stream }: { readonly stream: StreamView }) {
  const [held, setHeld] = useState<readonly Line[] | null>(null);
  const list = useRef<HTMLOListElement | null>(null);
  const follows = useRef(true);
  const latest = stream.lines.value;
  const lines = held ?? latest;
  useLayoutEffect(() => {
    const element = list.current;
    if (element && follows.current && held === null) element.scrollTop = element.scrollHeight;
  }, [lines]);
  const passed = held === null ? 0 : (latest.at(-1)?.number ?? 0) - (held.at(-1)?.number ?? 0);

  return (
    <section class="log" aria-label="Messages" data-testid="lines">
      <div class="log-head">
        <p class="soft small">
          {held === null ? `The last ${LINES} messages` : `${grouped(passed)} more since you paused`}
        </p>
        <button
          type="button"
          class="button"
          aria-pressed={held !== null}
          data-testid="hold"
          onClick={() => {
            follows.current = true;
            setHeld(held === null ? latest : null);
          }}
        >
          <Sign name={held === null ? 'pause' : 'play'} />
          {held === null ? 'Pause' : 'Continue'}
        </button>
      </div>
      <ol
        class="log-lines"
        ref={list}
        tabIndex={0}
        aria-label="Messages"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < AT_END_PX;
        }}
      >
        {lines.map((line) => (
          <li key={line.number} class={line.binary ? 'binary' : undefined} data-testid="line">
            <time>{clock(line.at)}</time>
            <span class="log-text">
              {line.text}
              {line.cut && <em> … {size(line.bytes)} in all</em>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
