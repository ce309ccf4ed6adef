/** Shows a topic of text: its last messages, the newest at the end. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatTime, formatCount, formatDecimalSize } from './format.ts';
import { LINES, type Line } from './lines.ts';
import './log.css';
import { StreamIcon } from './stream-icon.tsx';
import type { StreamView } from './stream-session.ts';

/** Within this distance from the end the list follows new messages. */
const AT_END_PX = 40;

export function LinesView({ stream }: { readonly stream: StreamView }) {
  const [paused, setPaused] = useState<readonly Line[] | null>(null);
  const list = useRef<HTMLOListElement | null>(null);
  const follows = useRef(true);
  const latest = stream.lines.value;
  const lines = paused ?? latest;
  useLayoutEffect(() => {
    const element = list.current;
    if (element && follows.current && paused === null) element.scrollTop = element.scrollHeight;
  }, [lines]);
  const passed = paused === null ? 0 : (latest.at(-1)?.number ?? 0) - (paused.at(-1)?.number ?? 0);

  return (
    <section class="log" aria-label="Messages" data-testid="lines">
      <div class="log-head">
        <p class="soft small">
          {paused === null ? `The last ${LINES} messages` : `${formatCount(passed)} more since you paused`}
        </p>
        <button
          type="button"
          class="button"
          aria-pressed={paused !== null}
          data-testid="pause"
          onClick={() => {
            follows.current = true;
            setPaused(paused === null ? latest : null);
          }}
        >
          <StreamIcon name={paused === null ? 'pause' : 'play'} />
          {paused === null ? 'Pause' : 'Continue'}
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
            <time>{formatTime(line.at)}</time>
            <span class="log-text">
              {line.text}
              {line.cut && <em> … {formatDecimalSize(line.bytes)} in all</em>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
