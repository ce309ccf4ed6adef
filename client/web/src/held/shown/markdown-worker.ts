/** Markdown to HTML, where it can be stopped: some of it takes a parser longer than anybody waits. `null` where it is too deep for it. */
import { marked } from 'marked';

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(rendered(data));
});

function rendered(text: string): string | null {
  try {
    return marked.parse(text, { async: false, gfm: true });
  } catch {
    return null;
  }
}
