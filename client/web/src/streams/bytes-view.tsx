/** Shows a topic of other data: the beginning of its last message. */
import { formatDecimalSize } from './format.ts';
import { hexRows } from './lines.ts';
import './log.css';
import type { StreamView } from './stream-session.ts';

export function BytesView({ stream }: { readonly stream: StreamView }) {
  const sample = stream.sample.value;
  const { lastBytes } = stream.figures.value;
  return (
    <section class="log" aria-label="Last message" data-testid="bytes">
      <div class="log-head">
        <p class="soft small">
          Binary messages that are neither text nor a picture. The last has{' '}
          {formatDecimalSize(Math.max(lastBytes, sample.length))}
          {lastBytes > sample.length ? `; these are its first ${sample.length}.` : '.'}
        </p>
      </div>
      <pre class="log-lines hex" tabIndex={0} aria-label="Bytes of the last message">
        {hexRows(sample).map((row) => (
          <span key={row.offset} class="hex-row">
            <span class="hex-offset">{row.offset}</span>
            <span class="hex-bytes">{row.hex}</span>
            <span class="hex-text">{row.text}</span>
          </span>
        ))}
      </pre>
    </section>
  );
}
