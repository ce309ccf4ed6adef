/** The decisions about content of strangers before the browser renders it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanStyle } from '../../src/shared-pages/content/clean-style.ts';
import { dataBytes, dataUrl } from '../../src/shared-pages/content/data-url.ts';
import { displayName } from '../../src/shared-pages/content/display-name.ts';
import { fileName } from '../../src/shared-pages/content/file-name.ts';
import { imageSize } from '../../src/shared-pages/content/image-size.ts';
import { contentKind } from '../../src/shared-pages/content/content-kind.ts';
import { RENDER_LIMITS } from '../../src/shared-pages/content/limits.ts';
import { countDrawnElements, type SvgElement } from '../../src/shared-pages/content/drawn-elements.ts';

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === 'string' ? Array.from(part, (char) => char.charCodeAt(0)) : [...part],
    ),
  );
const u32 = (value: number): number[] => [
  value >>> 24,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
];
const u16 = (value: number): number[] => u32(value).slice(2);
const low16 = (value: number): number[] => u16(value).toReversed();

const PNG = (width: number, height: number) =>
  bytes('\u0089PNG\r\n\u001a\n', u32(13), 'IHDR', u32(width), u32(height), [8, 6, 0, 0, 0]);
const JPEG = (width: number, height: number) =>
  bytes(
    '\u00ff\u00d8',
    '\u00ff\u00e1',
    u16(6),
    'Exif',
    '\u00ff\u00c2',
    u16(11),
    [8],
    u16(height),
    u16(width),
    [1, 0, 0],
  );

test('the size of an image is read in each of the supported formats', () => {
  const read = (given: Uint8Array<ArrayBuffer>) => {
    const { format, width, height } = imageSize(given) ?? {};
    return `${format} ${width}x${height}`;
  };
  assert.equal(read(PNG(640, 480)), 'image/png 640x480');
  assert.equal(read(JPEG(4000, 3000)), 'image/jpeg 4000x3000');
  assert.equal(
    read(JPEG(4000, 0)),
    'image/jpeg 4000x65535',
    'a height that follows later counts as the largest',
  );
  assert.equal(read(bytes('GIF89a', low16(10), low16(20), [0, 0, 0, 0x3b])), 'image/gif 10x20');
  assert.equal(
    read(bytes('RIFF', u32(0), 'WEBPVP8X', u32(0), u32(0), [0xff, 0x0f, 0], [0x67, 0x01, 0])),
    'image/webp 4096x360',
  );
  assert.equal(
    read(bytes('RIFF', u32(0), 'WEBPVP8L', u32(0), [0x2f], [0x0f, 0xc0, 0x04, 0])),
    'image/webp 16x20',
  );
  assert.equal(
    read(bytes('RIFF', u32(0), 'WEBPVP8 ', u32(0), [0, 0, 0, 0x9d, 1, 0x2a], low16(800), low16(600))),
    'image/webp 800x600',
  );
  assert.equal(
    read(
      bytes(
        u32(16),
        'ftypavif',
        u32(0),
        u32(20),
        'ispe',
        u32(0),
        u32(64),
        u32(64),
        'ispe',
        u32(0),
        u32(9000),
        u32(9000),
      ),
    ),
    'image/avif 9000x9000',
    'the largest of all sizes in it counts',
  );
});

test('a frame of a GIF that is larger than its canvas counts', () => {
  const frame = ['\u002c', low16(5), low16(0), low16(60_000), low16(50_000), [0], [2, 1, 0, 0]] as const;
  const size = imageSize(
    bytes(
      'GIF89a',
      low16(1),
      low16(1),
      [0x80, 0, 0],
      [0, 0, 0, 1, 1, 1],
      '!\u00f9',
      [1, 0, 0],
      ...frame,
      ';',
    ),
  );
  assert.deepEqual([size?.width, size?.height], [60_005, 50_000]);
});

test('data that is no image, or is cut off, has no size', () => {
  for (const given of [
    bytes(),
    bytes('GIF89a'),
    bytes('<svg>'),
    PNG(1, 1).slice(0, 20),
    PNG(0, 9),
    JPEG(1, 1).slice(0, 14),
    bytes('RIFF....WEBPVP8X'),
  ])
    assert.equal(imageSize(given), null);
});

test('a file name is sanitised, whatever it contains', () => {
  assert.equal(fileName('../../etc/passwd', 'text/plain'), 'etc-passwd');
  assert.equal(fileName('C:\\temp\\a.txt', 'text/plain'), 'C--temp-a.txt');
  assert.equal(fileName('photo\u202egpj.exe', 'image/png'), 'photogpj.exe');
  assert.equal(fileName('.bashrc', 'text/plain'), 'bashrc');
  assert.equal(fileName('NUL.txt', 'text/plain'), '_NUL.txt');
  assert.equal(fileName(' \u0000\u200b ', 'image/png'), 'page.png');
  assert.equal(fileName('report. . ', 'text/plain'), 'report');
  assert.equal(fileName(null, 'constructor'), 'page.bin');
  const long = fileName(`${'é'.repeat(300)}.tar.gz`, 'application/gzip');
  assert.ok(Array.from(long).length <= 120 && long.endsWith('.gz'), long);
  assert.equal(displayName('Grüße\n\u2066aus  Köln'), 'Grüße aus Köln');
});

test('styles keep their appearance and reference no file, in any notation', () => {
  assert.equal(cleanStyle('a{color:red;fill:url(#g)}'), 'a{color:red;fill:url(#g)}');
  for (const css of [
    'background:url(//x)',
    'background:URL  ("//x")',
    'background:u\\72 l(//x)',
    'background:\\75\\72\\6c(//x)',
    'background:u\\rl(//x)',
    'background:-webkit-image-set("//x" 1x)',
    '@import "//x"',
    '@\\69mport "//x"',
    '@font-face{src:url(//x)}',
  ])
    assert.doesNotMatch(cleanStyle(css), /url\s*\(|image-set\s*\(|@import/i, css);
  assert.doesNotMatch(cleanStyle('a{}<\\/style><script>'), /</);
  assert.equal(cleanStyle('q{content:"\\201C "}'), 'q{content:"“"}');
  assert.equal(cleanStyle('a'.repeat(RENDER_LIMITS.style + 1)), '');
  assert.equal(
    cleanStyle('a{background:url<(data:image/png;base64,x)}'),
    'a{background:off(data:image/png;base64,x)}',
  );
});

test('the bytes of a data: URL, in each of its forms', () => {
  const round = PNG(3, 4);
  assert.deepEqual(dataBytes(dataUrl('image/png', round)), round);
  assert.deepEqual(dataBytes('data:,a%20b%ff%zz'), bytes('a b\u00ff%zz'));
  assert.deepEqual(dataBytes(' DATA:image/svg+xml;charset=utf-8;BASE64,PHN2Zz4='), bytes('<svg>'));
  for (const none of ['https://x/', 'data:image/png;base64', 'data:;base64,%%', 'data:;base64,*'])
    assert.equal(dataBytes(none), null, none);
});

interface Part {
  readonly id?: string;
  readonly uses?: readonly string[];
  readonly inside?: readonly SvgElement[];
}

function drawn(localName: string, { id, uses = [], inside = [] }: Part = {}): SvgElement {
  const attributes = uses.map((use) => ({ name: 'href', value: `#${use}` }));
  if (id !== undefined) attributes.push({ name: 'id', value: id });
  return { localName, textContent: '', children: inside, attributes };
}

test('an SVG counts drawn elements: nested references multiply', () => {
  assert.equal(countDrawnElements(drawn('svg', { inside: [drawn('g'), drawn('g')] })), 3);
  const levels = Array.from({ length: 11 }, (_, level) =>
    drawn('g', {
      id: `l${level}`,
      inside:
        level === 0
          ? [drawn('rect')]
          : Array.from({ length: 10 }, () => drawn('use', { uses: [`l${level - 1}`] })),
    }),
  );
  assert.ok(countDrawnElements(drawn('svg', { inside: levels })) > 1e10);
  const circle = drawn('svg', {
    inside: [drawn('g', { id: 'a', uses: ['b'] }), drawn('g', { id: 'b', uses: ['a'] })],
  });
  assert.equal(countDrawnElements(circle), Number.POSITIVE_INFINITY);
  const hidden = [...levels.slice(0, -1), drawn('g', { inside: [drawn('use', { uses: ['%6c9'] })] })];
  assert.ok(
    countDrawnElements(drawn('svg', { inside: hidden })) > 1e9,
    'fragments are found as browsers find them',
  );
  const section = drawn('section', { id: 'top', inside: [drawn('a', { uses: ['top'] })] });
  assert.equal(countDrawnElements(section), 2, 'a link shows nothing of where it leads');
  let deep = drawn('g');
  for (let level = 0; level < 2000; level++) deep = drawn('g', { inside: [deep] });
  assert.equal(countDrawnElements(deep), Number.POSITIVE_INFINITY);
});

test('a pattern that a style sheet applies counts for every element', () => {
  const style: SvgElement = { ...drawn('style'), textContent: 'rect { fill: url( "#p" ) }' };
  const pattern = drawn('pattern', { id: 'p', inside: Array.from({ length: 99 }, () => drawn('rect')) });
  assert.ok(
    countDrawnElements(
      drawn('svg', { inside: [style, pattern, ...Array.from({ length: 100 }, () => drawn('rect'))] }),
    ) > 20_000,
  );
});

test('how each type is shown; a type that might reference other resources is a file', () => {
  assert.equal(contentKind('text/html'), 'html');
  assert.equal(contentKind('application/xhtml+xml'), 'html');
  assert.equal(contentKind('application/ld+json'), 'text');
  assert.equal(contentKind('image/svg+xml'), 'image');
  assert.equal(contentKind('audio/mpeg'), 'audio');
  for (const type of [
    'audio/mpegurl',
    'application/vnd.apple.mpegurl',
    'application/pdf',
    'application/octet-stream',
  ])
    assert.equal(contentKind(type), 'file', type);
});
