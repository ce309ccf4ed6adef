import { SHOWN, type TooMuch } from './limits.ts';

export type Rendered = { readonly html: string } | TooMuch;

/** HTML with whatever HTML is in the text: it has to be cleaned. */
export function renderMarkdown(text: string): Promise<Rendered> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('markdown-worker.ts', import.meta.url), { type: 'module' });
    const end = (rendered: Rendered): void => {
      clearTimeout(timer);
      worker.terminate();
      resolve(rendered);
    };
    const timer = setTimeout(() => end('slow'), SHOWN.markdownMs);
    worker.addEventListener('message', ({ data }: MessageEvent<string | null>) =>
      end(data === null ? 'elements' : { html: data }),
    );
    worker.addEventListener('error', () => end('unloaded'));
    worker.postMessage(text, []);
  });
}
