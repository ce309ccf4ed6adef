/** Decides how the content of a page is displayed, before anything is rendered, within the limits of `limits.ts`. */
import type { PageContent } from '@parley/sdk/pages/api';
import { openBench } from './bench.ts';
import type { Cleaned } from './clean-html.ts';
import { kindOf } from './kind.ts';
import { SHOWN, tooLong, type TooMuch } from './limits.ts';
import { renderMarkdown } from './markdown.ts';
import { drawingUrl, measuredPicture } from './picture.ts';
import { HTML_STYLE, MARKDOWN_STYLE } from './content-style.ts';

export type Display =
  /** `why`: the reason why the intended form is not shown. */
  | { readonly as: 'text'; readonly text: string; readonly cut: boolean; readonly why: TooMuch | null }
  | ({ readonly as: 'frame' } & Cleaned)
  | { readonly as: 'drawing'; readonly url: string }
  | { readonly as: 'picture' | 'video' | 'audio'; readonly blob: Blob }
  | { readonly as: 'file'; readonly why: TooMuch | null };

export async function displayOf({ type, bytes }: PageContent): Promise<Display> {
  const kind = kindOf(type);
  switch (kind) {
    case 'text':
      return textOf(bytes, null);
    case 'html':
    case 'markdown':
      return framed(kind, bytes);
    case 'picture':
      return picture(bytes);
    case 'video':
    case 'audio':
      return { as: kind, blob: new Blob([bytes], { type }) };
    case 'file':
      return { as: 'file', why: null };
    default:
      return kind satisfies never;
  }
}

/** The source of any content, as text. */
export function textOf(bytes: Uint8Array<ArrayBuffer>, why: TooMuch | null): Display {
  const text = new TextDecoder().decode(bytes.subarray(0, SHOWN.text));
  return { as: 'text', text, cut: bytes.length > SHOWN.text, why };
}

async function framed(kind: 'html' | 'markdown', bytes: Uint8Array<ArrayBuffer>): Promise<Display> {
  const text = new TextDecoder().decode(bytes);
  const rendered = kind === 'html' ? { html: text } : await fromMarkdown(text);
  if (typeof rendered === 'string') return textOf(bytes, rendered);
  try {
    const [{ cleanHtml }, bench] = await Promise.all([import('./clean-html.ts'), openBench()]);
    const cleaned = cleanHtml(rendered.html, bench, kind === 'html' ? HTML_STYLE : MARKDOWN_STYLE);
    return typeof cleaned === 'string' ? textOf(bytes, cleaned) : { as: 'frame', ...cleaned };
  } catch {
    return textOf(bytes, 'unloaded');
  }
}

/** Text that is too long anyway is not parsed. */
const fromMarkdown = (text: string): ReturnType<typeof renderMarkdown> | 'markup' =>
  tooLong(text) ? 'markup' : renderMarkdown(text);

async function picture(bytes: Uint8Array<ArrayBuffer>): Promise<Display> {
  const bench = await openBench().catch(() => null);
  if (bench === null) return { as: 'file', why: 'unloaded' };
  const measured = measuredPicture(bytes, bench);
  if (measured === null) return { as: 'file', why: null };
  if (measured === 'markup' || measured === 'elements') return textOf(bytes, measured);
  if (typeof measured === 'string') return { as: 'file', why: measured };
  return measured.type === 'image/svg+xml'
    ? { as: 'drawing', url: drawingUrl(measured) }
    : { as: 'picture', blob: new Blob([measured.bytes], { type: measured.type }) };
}
