/** The table of codes with their meanings, for generated files. */
import { MEANINGS } from '../src/code-meanings.ts';
import { CODES, codeNames, type Code, type CodeEntry } from '../src/codes.ts';

export const DESCRIBED_CODES = Object.fromEntries(
  codeNames().map((code) => [code, { ...CODES[code], meaning: MEANINGS[code] }]),
) as Record<Code, CodeEntry & { readonly meaning: string }>;
