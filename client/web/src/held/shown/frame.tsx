import { useEffect, useRef, useState } from 'preact/hooks';
import { isFrameDocument } from './bench.ts';
import { FRAME_PATH } from './policy.ts';

export interface FrameProps {
  /** A complete document. */
  readonly srcdoc: string;
  readonly label: string;
}

/** Shows content that has no permissions: see `policy.ts`. */
export function Frame({ srcdoc, label }: FrameProps) {
  const outer = useRef<HTMLIFrameElement>(null);
  const [loaded, setLoaded] = useState(0);
  useEffect(() => {
    const around = outer.current?.contentDocument ?? null;
    if (!isFrameDocument(around)) return;
    const inner = around.createElement('iframe');
    inner.setAttribute('sandbox', '');
    inner.setAttribute('credentialless', '');
    inner.setAttribute('referrerpolicy', 'no-referrer');
    inner.title = label;
    inner.srcdoc = srcdoc;
    around.body.replaceChildren(inner);
  }, [srcdoc, label, loaded]);
  return (
    <iframe
      ref={outer}
      class="held-frame"
      src={FRAME_PATH}
      sandbox="allow-same-origin"
      title="Content"
      data-testid="held-frame"
      onLoad={() => setLoaded((times) => times + 1)}
    />
  );
}
