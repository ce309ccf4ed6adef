import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readLayout } from './layout.ts';

describe('the layout of an image', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-layout-'));
  after(() => rmSync(scratch, { recursive: true }));

  /** A layout with an image of this user for each platform. */
  function layoutOf(name: string, user: string | undefined, platforms: readonly string[]): string {
    const directory = join(scratch, name);
    mkdirSync(join(directory, 'blobs/sha256'), { recursive: true });
    const put = (content: object) => {
      const text = JSON.stringify(content);
      const hash = createHash('sha256').update(text).digest('hex');
      writeFileSync(join(directory, 'blobs/sha256', hash), text);
      return { digest: `sha256:${hash}`, size: text.length };
    };
    const config = put({ config: { User: user } });
    const manifests = platforms.map((platform, at) => {
      const [os, architecture] = platform.split('/');
      const layers = [
        { digest: 'sha256:0', size: 1000 },
        { digest: 'sha256:1', size: at },
      ];
      return { ...put({ config, layers }), platform: { os, architecture } };
    });
    writeFileSync(join(directory, 'index.json'), JSON.stringify({ manifests: [put({ manifests })] }));
    return directory;
  }

  it('has a digest, and the bytes to download for each platform', () => {
    const { digest, sizes } = readLayout(layoutOf('good', '10001:10001', ['linux/arm64', 'linux/amd64']));
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(Object.fromEntries(sizes), { 'linux/arm64': 1000, 'linux/amd64': 1001 });
  });

  it('is refused where the image would run as root, or as a user with a name', () => {
    assert.throws(
      () => readLayout(layoutOf('root', undefined, ['linux/amd64'])),
      /runs as root, not as 10001:10001/,
    );
    assert.throws(() => readLayout(layoutOf('named', 'node', ['linux/amd64'])), /runs as node/);
  });
});
