/** The example of the SDK, outside of this repository, with the package as others install it, through the real edge. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { freePorts } from '@parley/local/ports';
import { inRepository } from '@parley/local/repository';
import { newProfile } from '../support/browsers.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';

/** Vite transforms the SDK at the first visit, on a busy machine with two cores. */
const WITHIN_MS = 60_000;

describe('the example of the SDK', { timeout: 240_000 }, () => {
  const site = withSite();
  let outside: string;
  let server: ViteDevServer | undefined;
  before(async () => {
    outside = mkdtempSync(join(tmpdir(), 'parley-example-'));
    installInto(outside);
    const { web: port } = await freePorts({});
    const proxy = { '/v1': { target: site.web, ws: true } };
    const options = { port, strictPort: true, proxy };
    server = await createServer({ root: outside, configFile: false, logLevel: 'error', server: options });
    await server.listen();
  });
  after(async () => {
    await server?.close();
    rmSync(outside, { recursive: true, force: true });
  });

  it('its types are right against the declarations of the package, which are checked too', () => {
    const lib = ['es2024', 'dom', 'dom.iterable'];
    const module = { target: 'es2024', module: 'esnext', moduleResolution: 'bundler', lib, types: [] };
    const compilerOptions = { ...module, strict: true, skipLibCheck: false, noEmit: true };
    writeFileSync(join(outside, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['call.ts'] }));
    run(inRepository('node_modules/.bin/tsc'), ['-p', outside], outside);
  });

  it('modules that are not public cannot be imported', async () => {
    const internal =
      "import('@parley/sdk/signaling/connection').then(() => process.exit(1), (e) => console.log(e.code))";
    const said = run('node', ['--input-type=module', '-e', internal], outside);
    assert.equal(said.trim(), 'ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('the page says that a camera was refused', async () => {
    const [address = ''] = server?.resolvedUrls?.local ?? [];
    const profile = await newProfile(site.browser, address);
    const page = await profile.newPage();
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
    });
    await page.goto(address);
    await page.locator('#status', { hasText: 'NotAllowedError: Permission denied' }).waitFor();
    await profile.close();
  });

  it('two tabs of one address see and hear each other, until one leaves', async () => {
    const [address = ''] = server?.resolvedUrls?.local ?? [];
    const profile = await newProfile(site.browser, address);
    const ada = await profile.newPage();
    const faults = faultsOf(ada);
    await ada.goto(address);
    const [bo] = await Promise.all([profile.waitForEvent('page'), ada.locator('#link').click()]);
    faultsOf(bo, faults);
    await Promise.all([ada, bo].map(receives));

    await bo.locator('#leave').click();
    await ada.locator('#videos video:not(#me)').waitFor({ state: 'detached' });
    assert.equal(await bo.locator('#status').textContent(), 'The call ended: left');
    assert.deepEqual(faults, []);
    await profile.close();
  });
});

function faultsOf(page: Page, faults: string[] = []): string[] {
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  return faults;
}

/** Resolves when the page shows and plays one other participant: the picture advances, and audio arrives. */
async function receives(page: Page): Promise<void> {
  let now = '';
  await until(
    async () => {
      now = await page.evaluate(async () => {
        const [video, ...more] = document.querySelectorAll<HTMLVideoElement>('#videos video:not(#me)');
        if (video === undefined || more.length > 0) return `${more.length} others`;
        const { totalVideoFrames } = video.getVideoPlaybackQuality();
        const voice = (video.srcObject as MediaStream | null)?.getAudioTracks()[0];
        return totalVideoFrames > 10 && voice?.muted === false ? 'both' : `${totalVideoFrames} frames`;
      });
      return now === 'both';
    },
    { withinMs: WITHIN_MS, what: () => `picture and sound of the other tab: now ${now}` },
  );
}

/** Copies the page there, and installs the SDK from the package that `npm pack` makes. */
function installInto(folder: string): void {
  run('npm', ['run', '--silent', 'build', '-w', 'client/sdk'], inRepository(''));
  const packed = run('npm', ['pack', '--silent', inRepository('client/sdk/dist')], folder).trim();
  for (const file of ['index.html', 'call.ts'])
    cpSync(inRepository(join('client/example', file)), join(folder, file));
  const dependencies = { '@parley/sdk': `file:${packed}` };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  );
  run('npm', ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund'], folder);
}

function run(command: string, args: readonly string[], cwd: string): string {
  const ended = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(ended.status, 0, `${command} ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}
