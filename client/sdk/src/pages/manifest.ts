/** The manifest, the root of a page's hash tree: created from its chunks, or read from text of a stranger. SPEC rules PAGE-1 and PAGE-2. */
import { decode } from '@parley/protocol/decode';
import { PAGE_LIMITS } from '@parley/protocol/page-limits';
import { PageManifest, type PageAddress, type PageLimits } from '@parley/protocol/pages';
import type { PageRefusal } from './api.ts';
import { toBase64, toHex } from './base64.ts';
import { refusalOf } from './refusals.ts';

export interface Manifest {
  readonly page: PageAddress;
  /** The text that is passed on, byte for byte. */
  readonly text: string;
  readonly fields: PageManifest;
}

const utf8 = new TextEncoder();

/** `bytes` are those of all chunks, encrypted if the page is; `head` comes first in the manifest. */
export async function makeManifest(
  subtle: SubtleCrypto,
  head: Pick<PageManifest, 'type' | 'name' | 'seal'>,
  bytes: Uint8Array<ArrayBuffer>,
  chunkBytes: number,
): Promise<Manifest> {
  const { type, name, seal } = head;
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    chunks.push(await sha256(subtle, bytes.subarray(at, at + chunkBytes)));
  }
  // The order of fields is fixed: the same content has the same address.
  const fields: PageManifest = {
    v: 1,
    type,
    ...(name === undefined ? {} : { name }),
    bytes: bytes.length,
    chunkBytes,
    sha256: await sha256(subtle, bytes),
    chunks,
    ...(seal === undefined ? {} : { seal }),
  };
  const text = JSON.stringify(fields);
  return { page: await addressOf(subtle, text), text, fields };
}

export type Reading =
  | { readonly is: 'page'; readonly manifest: Manifest }
  /** Not the manifest of this address: its sender is not asked again. */
  | { readonly is: 'other' }
  /** The manifest of this address, but it is invalid. */
  | { readonly is: 'refused'; readonly refusal: PageRefusal };

export async function readManifest(
  subtle: SubtleCrypto,
  page: PageAddress,
  text: string,
  limits: Pick<PageLimits, 'pageBytes'>,
): Promise<Reading> {
  if ((await addressOf(subtle, text)) !== page) return { is: 'other' };
  const fields = parse(text);
  if (fields === undefined || !agrees(fields)) return { is: 'refused', refusal: refusalOf('PAGE_INVALID') };
  if (fields.bytes > limits.pageBytes) return { is: 'refused', refusal: refusalOf('PAGE_TOO_LARGE') };
  return { is: 'page', manifest: { page, text, fields } };
}

export const sha256 = async (subtle: SubtleCrypto, bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  toBase64(new Uint8Array(await subtle.digest('SHA-256', bytes)));

async function addressOf(subtle: SubtleCrypto, text: string): Promise<PageAddress> {
  return toHex(new Uint8Array(await subtle.digest('SHA-256', utf8.encode(text))));
}

function parse(text: string): PageManifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const decoded = decode(PageManifest, value);
  return decoded.ok ? decoded.message : undefined;
}

const agrees = ({ bytes, chunkBytes, chunks }: PageManifest): boolean =>
  chunkBytes <= PAGE_LIMITS['page.chunkBytes'].max && chunks.length === Math.ceil(bytes / chunkBytes);
