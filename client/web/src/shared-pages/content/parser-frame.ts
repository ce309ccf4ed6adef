/** A hidden frame without scripts in which markup is parsed: its policy blocks all loading. */
import { FRAME_PATH } from './content-policy.ts';

export type ParserWindow = Window & typeof globalThis;

let opening: Promise<ParserWindow> | null = null;

/** Rejects if its document does not load. */
export function openParserFrame(): Promise<ParserWindow> {
  opening ??= open().catch((error: unknown) => {
    opening = null;
    throw error;
  });
  return opening;
}

async function open(): Promise<ParserWindow> {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.title = 'HTML parser';
  frame.src = FRAME_PATH;
  const loaded = new Promise((resolve, reject) => {
    frame.addEventListener('load', resolve, { once: true });
    frame.addEventListener('error', reject, { once: true });
  });
  document.body.append(frame);
  await loaded;
  if (isFrameDocument(frame.contentDocument)) return frame.contentWindow as ParserWindow;
  frame.remove();
  throw new Error(`${FRAME_PATH} is something else`);
}

/** Another document would have another policy. A document that is not parsed yet, or is unloading, has no element. */
export const isFrameDocument = (document: Document | null): document is Document =>
  Boolean(document?.querySelector(':root[data-content-frame]'));
