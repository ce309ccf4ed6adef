/** A `.tar.gz` with the same bytes for the same content, on every system: `tar` of macOS lacks the options for that. */
import { gzipSync } from 'node:zlib';

export interface File {
  /** Below 100 bytes, the limit of the header's field. */
  readonly path: string;
  readonly content: Buffer;
  readonly isProgram?: boolean;
}

const BLOCK = 512;

/** POSIX ustar (IEEE 1003.1-2017, pax), owned by root. `time`: seconds since 1970, of every file. */
export function packFiles(files: readonly File[], time: number): Buffer {
  const blocks = files.flatMap((file) => [header(file, time), padded(file.content)]);
  // Two empty blocks end an archive.
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function header({ path, content, isProgram = false }: File, time: number): Buffer {
  if (Buffer.byteLength(path) >= 100) throw new Error(`${path} is too long for the header of a tar archive`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(path, 0);
  block.write(octal(isProgram ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(content.length, 11), 124);
  block.write(octal(time, 11), 136);
  // The checksum counts its own field as spaces.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

function padded(content: Buffer): Buffer {
  const end = content.length % BLOCK;
  return end === 0 ? content : Buffer.concat([content, Buffer.alloc(BLOCK - end)]);
}
