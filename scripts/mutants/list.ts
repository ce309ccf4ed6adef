/** The rules that are broken on purpose. Files of Rust come from the top crate down, so that a restored file compiles few crates again. */
import type { Mutant } from './mutant.ts';
import { MEDIA_AND_PAGES } from './media-and-pages.ts';
import { ADMISSION } from './admission.ts';
import { RELAYS } from './relays.ts';
import { ROOMS } from './rooms.ts';

export const MUTANTS: readonly Mutant[] = [...ROOMS, ...ADMISSION, ...MEDIA_AND_PAGES, ...RELAYS];
