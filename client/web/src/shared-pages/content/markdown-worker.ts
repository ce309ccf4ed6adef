/** Converts Markdown to HTML in a worker, which can be terminated: some input takes a parser too long. `null` if it is nested too deeply. */
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
