/** RFC 1951 by the Compression Streams API, with a limit on the inflated size. */
import type { Compression } from '../ports.ts';

/** `null` if the API or the format `deflate-raw` is missing. */
export function webCompression(): Compression | null {
  if (typeof globalThis.CompressionStream !== 'function') return null;
  try {
    // Older browsers have the API without this format.
    void new DecompressionStream('deflate-raw');
  } catch {
    return null;
  }
  return {
    deflate: async (bytes) => through(bytes, new CompressionStream('deflate-raw'), Number.POSITIVE_INFINITY),
    inflate: async (bytes, limit) => through(bytes, new DecompressionStream('deflate-raw'), limit),
  };
}

interface Transform {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<BufferSource>;
}

/** Reads chunk by chunk and stops at the limit, so that a small message that inflates without end costs at most one chunk more than the limit. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: Transform,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = transform.writable.getWriter();
  // Errors appear on the readable side too; this handler only avoids an unhandled rejection.
  const written = writer
    .write(bytes)
    .then(async () => writer.close())
    .catch(() => undefined);
  const reader = transform.readable.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel().catch(() => undefined);
      throw new RangeError('over the limit');
    }
    chunks.push(value);
  }
  await written;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
