/** The common names of codecs; the strings are those of RFC 6381. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^avc[13]/, 'H.264'],
  [/^(?:hev|hvc)1/, 'H.265'],
  [/^av01/, 'AV1'],
  [/^vp09/, 'VP9'],
  [/^vp8/, 'VP8'],
  [/^opus$/, 'Opus'],
  [/^mp4a\.40/, 'AAC'],
];

export const codecName = (codec: string): string =>
  NAMES.find(([pattern]) => pattern.test(codec))?.[1] ?? codec;
