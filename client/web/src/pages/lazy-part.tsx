/** Streams, live video and pages are separate parts, which a call does not load. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Part } from '../route.ts';
import { Notice } from './notice.tsx';

type Page = FunctionComponent<{ readonly path: string }>;

const LOAD: Readonly<Record<Part, () => Promise<{ readonly PartPage: Page }>>> = {
  streams: () => import('../streams/streams.tsx'),
  live: () => import('../live/live.tsx'),
  'shared-pages': () => import('../shared-pages/shared-pages.tsx'),
};

export function LazyPart({ part, path }: { readonly part: Part; readonly path: string }) {
  const [Loaded, setLoaded] = useState<Page | null>(null);
  useEffect(() => {
    void LOAD[part]()
      .catch(() => ({ PartPage: NotLoaded }))
      .then((code) => setLoaded(() => code.PartPage));
  }, []);
  return Loaded && <Loaded path={path} />;
}

function NotLoaded() {
  return (
    <Notice icon="cloud" mood="wait" title="Parley cannot be reached" testid="part-failed">
      <p>A part of this page did not load. Check your connection, then try again.</p>
      <div class="actions">
        <button type="button" class="button primary" onClick={() => location.reload()}>
          Try again
        </button>
      </div>
    </Notice>
  );
}
