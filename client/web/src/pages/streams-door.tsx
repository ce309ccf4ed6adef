import { useEffect, useState } from 'preact/hooks';
import { Notice } from './notice.tsx';

const loadStreams = () => import('../streams/streams.tsx');
type StreamsCode = Awaited<ReturnType<typeof loadStreams>>;

/** Streams are a part of their own: nobody who came for a call loads them. */
export function StreamsDoor({ path }: { readonly path: string }) {
  const [code, setCode] = useState<StreamsCode | 'failed' | null>(null);
  useEffect(() => {
    loadStreams().then(setCode, () => setCode('failed'));
  }, []);
  if (code === null) return null;
  if (code === 'failed')
    return (
      <Notice icon="cloud" mood="wait" title="Parley cannot be reached" testid="streams-failed">
        <p>A part of this page did not load. Check your connection, then try again.</p>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => location.reload()}>
            Try again
          </button>
        </div>
      </Notice>
    );
  return <code.Streams path={path} />;
}
