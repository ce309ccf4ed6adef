import { useEffect, useRef, useState } from 'preact/hooks';
import { isFrameDocument } from './parser-frame.ts';
import { FRAME_PATH } from './content-policy.ts';

export interface ContentFrameProps {
  /** A complete document. */
  readonly srcdoc: string;
  readonly label: string;
}

/** Shows content that has no permissions: see `policy.ts`. */
export function ContentFrame({ srcdoc, label }: ContentFrameProps) {
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
      class="content-frame"
      src={FRAME_PATH}
      sandbox="allow-same-origin"
      title="Content"
      data-testid="content-frame"
      onLoad={() => setLoaded((times) => times + 1)}
    />
  );
}
