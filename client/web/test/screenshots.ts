/**
 * Images of every page and state: desktop and phone, light and dark; on a desktop also in forced colours, as high-contrast themes of systems have them.
 * `npm run screenshots -w client/web -- call-` takes only some.
 */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openGallery, settled } from './browser.ts';

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

const wanted = process.argv.slice(2);
const folder = fileURLToPath(new URL('../screenshots/', import.meta.url));
await mkdir(folder, { recursive: true });
const gallery = await openGallery();
try {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await gallery.browser.newContext({
        viewport,
        colorScheme,
        isMobile: size === 'phone',
        hasTouch: size === 'phone',
      });
      const index = await context.newPage();
      await index.goto(gallery.url);
      const states = await index.evaluate(() => globalThis.galleryStates ?? []);
      for (const state of states) {
        if (wanted.length > 0 && !wanted.some((part) => state.startsWith(part))) continue;
        const page = await gallery.open(context, state);
        await page.screenshot({ path: `${folder}${state}.${size}.${colorScheme}.png` });
        if (size === 'desktop' && colorScheme === 'dark') {
          await page.emulateMedia({ forcedColors: 'active' });
          await settled(page);
          await page.screenshot({ path: `${folder}${state}.forced.png` });
        }
        await page.close();
      }
      await context.close();
    }
} finally {
  await gallery.close();
}
console.log(`Pictures are in ${folder}`);
