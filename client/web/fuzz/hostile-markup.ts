/** Hostile HTML, Markdown and SVG: the tags, attributes and values that have led out of a cleaner or a frame, in any combination. */
import * as fc from 'fast-check';
import { utf8 } from '../../../scripts/fuzz/target.ts';

/** Stands for the address of a server that counts, with the number of the input as its path. */
export const BEACON = 'http://beacon.test';
export const KINDS = { html: 'text/html', markdown: 'text/markdown', svg: 'image/svg+xml' } as const;
export type Kind = keyof typeof KINDS;

const RUN = `try{top.ran=1}catch{};try{parent.parent.document.title='ran'}catch{};new Image().src='${BEACON}/run'`;
const SCRIPT = `<script>${RUN}</script>`;
const INNER_SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`;

const TAGS = (
  'a abbr annotation-xml animate applet area article audio b base body br button canvas col colgroup dd desc details dialog div dl embed ' +
  'fieldset font foreignObject form frame frameset g h1 head hr html i iframe image img input isindex keygen label legend li link listing ' +
  'main map marquee math menu meta mglyph mi mn mo ms mtext noembed noframes noscript object ol option p param path picture plaintext pre ' +
  'q rect s script section select set slot source span strike style sub summary svg table tbody td template text textarea tfoot th thead ' +
  'title tr track tspan u ul use video wbr xmp x-b x-a x-script x-i'
).split(' ');
const VALUES = [
  BEACON,
  `${BEACON}/v`,
  `//${BEACON.slice(7)}/v`,
  `javascript:${RUN}`,
  `java\tscript:${RUN}`,
  ` javascript:${RUN}`,
  `data:text/html,${SCRIPT}`,
  `data:image/svg+xml,${encodeURIComponent(INNER_SVG)}`,
  'data:image/png;base64,AAAA',
  '#a',
  '',
  '_top',
  '_blank',
  '_parent',
  `0;url=${BEACON}/r`,
  'refresh',
  'preconnect',
  'stylesheet',
  'dns-prefetch',
  `url(${BEACON}/u)`,
  `u\\72l(${BEACON}/e)`,
  `background:url(${BEACON}/s)`,
  `background:ur\\6c(${BEACON}/s)`,
  `background-image:image-set("${BEACON}/i" 1x)`,
  SCRIPT,
  RUN,
  `position:fixed;inset:0;z-index:9`,
  'text/html',
  'application/xhtml+xml',
  'open',
  '1',
  `${BEACON}/a 1x, ${BEACON}/b 2x`,
  'Content-Security-Policy',
  'default-src *',
  '&quot;',
  '"',
  `</style>${SCRIPT}`,
  `--></title></textarea>${SCRIPT}`,
  '`',
  '<',
  'xlink:href',
  'href',
];
const ATTRIBUTES = (
  'action attributeName autofocus background begin cite class code content contenteditable data encoding fill filter for formaction from href ' +
  'http-equiv id is longdesc mask manifest name onbegin onclick onerror onfocus onload onmouseover onpointerrawupdate ontoggle ontransitionend ' +
  'open ping poster profile rel shadowrootmode slot src srcdoc srcset style target title to type usemap values xlink:href xml:base xmlns xmlns:xlink'
).split(' ');
const LOOSE = [
  SCRIPT,
  '<!--',
  '-->',
  '--!>',
  '<![CDATA[',
  ']]>',
  '<?xml version="1.0"?>',
  '<!DOCTYPE svg [<!ENTITY a "b">]>',
  '&lt;script&gt;',
  '&#x3c;script&#x3e;',
  '</',
  '<',
  '>',
  '"',
  "'",
  '\0',
  '\u2028',
  '</p>',
  '</table>',
  '</svg>',
  '</math>',
  '</style>',
  '</title>',
  '</textarea>',
  '</noscript>',
  '</template>',
  `<style>@import "${BEACON}/c";*{background:url(${BEACON}/b)}</style>`,
  `<style>@font-face{font-family:f;src:url(${BEACON}/f)}*{font-family:f}</style>`,
  `<img src=x onerror="${RUN}">`,
  `<meta http-equiv=refresh content="0;url=${BEACON}/m">`,
  `<link rel=preconnect href="${BEACON}">`,
  `<iframe srcdoc='${SCRIPT}'></iframe>`,
  `<form action="${BEACON}/f"><input autofocus onfocus="${RUN}"></form>`,
  `<a href="${BEACON}/l" target=_top style="position:fixed;inset:0;z-index:9">x</a>`,
  `<svg><use href="${BEACON}/u#a"/></svg>`,
  // Where two parses differ: foreign content, and what a table or a form lets out of itself.
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;',
  '<svg></p><style><a id="</style>',
  '<form><math><mtext></form><form><mglyph><style>',
  '<svg><annotation-xml><foreignObject><style><!--</style><p id="--><',
  '<noscript><p title="</noscript>',
  '<select><template><style></select>',
  `[x](javascript:${RUN})`,
  `![x](${BEACON}/md)`,
  `[x]: ${BEACON}/ref "t"\n\n![a][x]`,
  `<${BEACON}/auto>`,
  '```html\n',
  '\n\n',
  '> ',
  '# ',
  '| a |\n|--|\n| ',
];

const quoted = fc
  .tuple(
    fc.constantFrom(...ATTRIBUTES),
    fc.constantFrom(...VALUES),
    fc.constantFrom('"', "'", ''),
    fc.constantFrom(' ', '/', '\n', ''),
  )
  .map(([name, value, quote, before]) => `${before}${name}=${quote}${value}${quote}`);
const opening = fc
  .tuple(fc.constantFrom(...TAGS), fc.array(quoted, { maxLength: 3 }), fc.constantFrom('', '/', ' '))
  .map(([tag, attributes, end]) => `<${tag} ${attributes.join(' ')}${end}>`);
const closing = fc.constantFrom(...TAGS).map((tag) => `</${tag}>`);
const piece = fc.oneof(
  { weight: 5, arbitrary: opening },
  { weight: 2, arbitrary: closing },
  { weight: 4, arbitrary: fc.constantFrom(...LOOSE) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);

/** The first line says what kind it is. */
export const hostileMarkup: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.constantFrom<Kind>('html', 'html', 'html', 'markdown', 'svg'),
    fc.array(piece, { minLength: 1, maxLength: 30 }),
  )
  .map(([kind, pieces]) => {
    const body = pieces.join('');
    return utf8(
      `${kind}\n${kind === 'svg' ? `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${body}</svg>` : body}`,
    );
  });
