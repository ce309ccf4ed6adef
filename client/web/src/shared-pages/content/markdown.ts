import { RENDER_LIMITS, type FallbackReason } from './limits.ts';

export type Rendered = { readonly html: string } | FallbackReason;

/** The result contains the HTML of the text unchanged: it must be sanitized. */
export function renderMarkdown(text: string): Promise<Rendered> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('markdown-worker.ts', import.meta.url), { type: 'module' });
    const end = (rendered: Rendered): void => {
      clearTimeout(timer);
      worker.terminate();
      resolve(rendered);
    };
    const timer = setTimeout(() => end('slow'), RENDER_LIMITS.markdownMs);
    worker.addEventListener('message', ({ data }: MessageEvent<string | null>) =>
      end(data === null ? 'elements' : { html: data }),
    );
    worker.addEventListener('error', () => end('unloaded'));
    worker.postMessage(text, []);
  });
}
