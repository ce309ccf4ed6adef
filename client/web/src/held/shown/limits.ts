/** How much of a page is rendered, so that none can keep its reader's browser busy. What is over it is offered as text and as a file. */
export const SHOWN = {
  /** Characters of markup, embedded pictures apart: a novel has as many. */
  markup: 1_048_576,
  /** Of a document; of a drawing as often as each is drawn. Browsers lay out as many in a fraction of a second. */
  elements: 20_000,
  /** Elements within each other: browsers themselves stop at 512. */
  depth: 256,
  /** Bold, links and their like within each other: an HTML parser may repeat all of them at every paragraph. */
  formats: 32,
  /** Characters of one style sheet. */
  style: 262_144,
  /** Of one picture: 160 MB decoded. Cameras make 24 million. */
  imagePixels: 40_000_000,
  /** Of all pictures within one document. */
  documentPixels: 80_000_000,
  /** A drawing is rendered from its source. */
  svgBytes: 1_048_576,
  /** Bytes of text, in one element. */
  text: 262_144,
  /** Markdown is turned into HTML apart from the page, and given up then. */
  markdownMs: 3000,
} as const;

/** Why something is not rendered. */
export type TooMuch = 'markup' | 'elements' | 'pixels' | 'slow' | 'unloaded';

export const TOO_MUCH: Readonly<Record<TooMuch, string>> = {
  markup: 'There is too much markup in it to show it safely.',
  elements: 'It has too many parts to show it safely.',
  pixels: 'Its picture is too large to show it safely.',
  slow: 'It took too long to prepare.',
  unloaded: 'The part of this application that shows it did not load.',
};

/** Embedded pictures do not count: they are measured as pictures. */
export const tooLong = (markup: string): boolean => markup.replaceAll(EMBEDDED, '').length > SHOWN.markup;

const EMBEDDED = /data:[^"'\s<>)]*/gi;
