/** Decides how the content of a page is displayed, before anything is rendered, within the limits of `limits.ts`. */
import type { PageContent } from '@parley/sdk/pages/api';
import { openParserFrame } from './parser-frame.ts';
import type { Cleaned } from './clean-html.ts';
import { contentKind } from './content-kind.ts';
import { RENDER_LIMITS, markupTooLong, type FallbackReason } from './limits.ts';
import { renderMarkdown } from './markdown.ts';
import { imageUrl, checkedImage } from './checked-image.ts';
import { HTML_STYLE, MARKDOWN_STYLE } from './content-style.ts';

export type Display =
  /** `reason`: why the intended form is not shown. */
  | {
      readonly as: 'text';
      readonly text: string;
      readonly cut: boolean;
      readonly reason: FallbackReason | null;
    }
  | ({ readonly as: 'frame' } & Cleaned)
  | { readonly as: 'svg'; readonly url: string }
  | { readonly as: 'image' | 'video' | 'audio'; readonly blob: Blob }
  | { readonly as: 'file'; readonly reason: FallbackReason | null };

export async function displayOf({ type, bytes }: PageContent): Promise<Display> {
  const kind = contentKind(type);
  switch (kind) {
    case 'text':
      return textOf(bytes, null);
    case 'html':
    case 'markdown':
      return framed(kind, bytes);
    case 'image':
      return picture(bytes);
    case 'video':
    case 'audio':
      return { as: kind, blob: new Blob([bytes], { type }) };
    case 'file':
      return { as: 'file', reason: null };
    default:
      return kind satisfies never;
  }
}

/** The source of any content, as text. */
export function textOf(bytes: Uint8Array<ArrayBuffer>, reason: FallbackReason | null): Display {
  const text = new TextDecoder().decode(bytes.subarray(0, RENDER_LIMITS.text));
  return { as: 'text', text, cut: bytes.length > RENDER_LIMITS.text, reason };
}

async function framed(kind: 'html' | 'markdown', bytes: Uint8Array<ArrayBuffer>): Promise<Display> {
  const text = new TextDecoder().decode(bytes);
  const rendered = kind === 'html' ? { html: text } : await fromMarkdown(text);
  if (typeof rendered === 'string') return textOf(bytes, rendered);
  try {
    const [{ cleanHtml }, parser] = await Promise.all([import('./clean-html.ts'), openParserFrame()]);
    const cleaned = cleanHtml(rendered.html, parser, kind === 'html' ? HTML_STYLE : MARKDOWN_STYLE);
    return typeof cleaned === 'string' ? textOf(bytes, cleaned) : { as: 'frame', ...cleaned };
  } catch {
    return textOf(bytes, 'unloaded');
  }
}

/** Text that is too long anyway is not parsed. */
const fromMarkdown = (text: string): ReturnType<typeof renderMarkdown> | 'markup' =>
  markupTooLong(text) ? 'markup' : renderMarkdown(text);

async function picture(bytes: Uint8Array<ArrayBuffer>): Promise<Display> {
  const parser = await openParserFrame().catch(() => null);
  if (parser === null) return { as: 'file', reason: 'unloaded' };
  const checked = checkedImage(bytes, parser);
  if (checked === null) return { as: 'file', reason: null };
  if (checked === 'markup' || checked === 'elements') return textOf(bytes, checked);
  if (typeof checked === 'string') return { as: 'file', reason: checked };
  return checked.type === 'image/svg+xml'
    ? { as: 'svg', url: imageUrl(checked) }
    : { as: 'image', blob: new Blob([checked.bytes], { type: checked.type }) };
}
