/** The limits of rendering, so that no page can block its reader's browser. Content above them is shown as text or offered as a file. */
export const RENDER_LIMITS = {
  /** Characters of markup without embedded images: the length of a novel. */
  markup: 1_048_576,
  /** Elements of a document; of an SVG counted as often as each is drawn. Browsers lay out this many in a fraction of a second. */
  elements: 20_000,
  /** The nesting depth: browsers themselves stop at 512. */
  depth: 256,
  /** The nesting of formatting elements: an HTML parser may repeat all of them at every paragraph. */
  formats: 32,
  /** Characters of one style sheet. */
  style: 262_144,
  /** Pixels of one image: 160 MB decoded. Cameras have 24 million. */
  imagePixels: 40_000_000,
  /** Pixels of all images of a document. */
  documentPixels: 80_000_000,
  /** Bytes of an SVG. */
  svgBytes: 1_048_576,
  /** Bytes of text, in one element. */
  text: 262_144,
  /** The time limit of converting Markdown to HTML, in a worker. */
  markdownMs: 3000,
} as const;

/** Why content is not rendered. */
export type FallbackReason = 'markup' | 'elements' | 'pixels' | 'slow' | 'unloaded';

export const FALLBACK_TEXT: Readonly<Record<FallbackReason, string>> = {
  markup: 'It has too much markup to be shown safely.',
  elements: 'It has too many elements to be shown safely.',
  pixels: 'Its image is too large to be shown safely.',
  slow: 'It took too long to prepare.',
  unloaded: 'The part of this application that shows it did not load.',
};

/** Embedded images do not count, because they are measured separately. */
export const markupTooLong = (markup: string): boolean =>
  markup.replaceAll(EMBEDDED, '').length > RENDER_LIMITS.markup;

const EMBEDDED = /data:[^"'\s<>)]*/gi;
