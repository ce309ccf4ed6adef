/** How content is displayed, by its declared type. `picture.ts` also checks the bytes. */

export type ContentKind = 'text' | 'markdown' | 'html' | 'image' | 'video' | 'audio' | 'file';

/** No playlists, because they name other files. */
const VIDEO = /^video\/(?:mp4|webm|ogg|quicktime)$/;
const AUDIO = /^audio\/(?:mpeg|mp4|aac|ogg|webm|wav|x-wav|flac|x-flac)$/;
const TEXT =
  /^text\/|^application\/(?:json|xml|javascript|ecmascript|x-sh|yaml|toml|sql|x-ndjson)$|^application\/.+\+(?:json|xml)$/;

export function contentKind(type: string): ContentKind {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === 'text/markdown') return 'markdown';
  if (type.startsWith('image/')) return 'image';
  if (VIDEO.test(type)) return 'video';
  if (AUDIO.test(type)) return 'audio';
  return TEXT.test(type) ? 'text' : 'file';
}
