/** Writes a `.gz` and a `.br` beside every text file of a build, so that the server never compresses during a request. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(?:html|js|css|svg|json|webmanifest|txt)$/;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

export function precompress(): Plugin {
  let outDir = '';
  return {
    name: 'parley-precompress',
    apply: 'build',
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    async closeBundle() {
      const names = await readdir(outDir, { recursive: true });
      await Promise.all(names.filter((name) => TEXT.test(name)).map((name) => compress(join(outDir, name))));
    },
  };
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  await Promise.all([
    toGzip(content, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
    toBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).then((packed) =>
      writeFile(`${file}.br`, packed),
    ),
  ]);
}
