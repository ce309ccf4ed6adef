/** The style of the application within a page's frame, before that of the page. Its colors are those of `design/tokens.css`. */

const DISABLED_STYLE = `
.parley-link { color: #17604d; text-decoration: underline dotted; cursor: not-allowed; }
img:not([src]) { display: inline-block; padding: 2px 8px; border: 1px dashed #8a948e; border-radius: 6px; }
`;

/** A page in HTML has its own style, on white, as its author saw it. */
export const HTML_STYLE = `
html { background: #fff; color: #000; }
${DISABLED_STYLE}`;

export const MARKDOWN_STYLE = `
:root { color-scheme: light dark; }
html { background: #fffefb; color: #1d2521; }
body {
  box-sizing: border-box; max-width: 46rem; margin: 0 auto; padding: 28px 24px 64px;
  font: 17px/1.65 system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif;
  overflow-wrap: break-word;
}
h1, h2, h3, h4 { line-height: 1.2; letter-spacing: -0.015em; margin: 1.6em 0 0.5em; text-wrap: balance; }
h1 { font-size: 2.1em; margin-top: 0.4em; }
h2 { font-size: 1.5em; }
h3 { font-size: 1.2em; }
p, ul, ol, pre, table, blockquote { margin: 0 0 1em; }
img, svg { max-width: 100%; height: auto; border-radius: 8px; }
code { font: 0.9em ui-monospace, 'Cascadia Mono', 'Liberation Mono', monospace; }
:not(pre) > code { padding: 0.1em 0.35em; border-radius: 6px; background: #ece7dc; }
pre { padding: 14px 16px; border-radius: 14px; background: #ece7dc; overflow-x: auto; }
blockquote { padding-left: 1em; border-left: 3px solid #1b6b56; color: #55605a; }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
th, td { padding: 7px 12px; border: 1px solid #dcd5c7; text-align: left; }
hr { border: 0; border-top: 1px solid #dcd5c7; margin: 2em 0; }
${DISABLED_STYLE}
@media (prefers-color-scheme: dark) {
  html { background: #1c2220; color: #f2efe8; }
  :not(pre) > code, pre { background: #262d2a; }
  blockquote { border-color: #72cdae; color: #a9b4ae; }
  th, td, hr { border-color: #37403c; }
  .parley-link { color: #86d8bb; }
}
@media (max-width: 600px) { body { padding: 20px 18px 48px; font-size: 16px; } }
`;
