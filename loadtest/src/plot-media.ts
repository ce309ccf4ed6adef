/** `npm run plot-media -w loadtest -- REPORT.json PICTURE.svg`: draws what `parley-load media --json REPORT.json` found. */
import { readFileSync, writeFileSync } from 'node:fs';
import { picture, type Report } from './media/picture.ts';

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) {
  console.error('usage: npm run plot-media -w loadtest -- REPORT.json PICTURE.svg');
  process.exit(2);
}
writeFileSync(to, picture(JSON.parse(readFileSync(from, 'utf8')) as Report));
