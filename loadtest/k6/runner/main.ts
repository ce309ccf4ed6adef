/** `make herd`: a whole Parley of its own and a herd through its edge. The kind of the profile decides what happens to them. */
import { isStorm } from '../profiles/storm.ts';

await (isStorm(process.env['PROFILE'] ?? '') ? import('./storm.ts') : import('./calls.ts'));
