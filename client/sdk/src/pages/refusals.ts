/** Refusals from the protocol's table of codes. */
import { MEANINGS } from '@parley/protocol/code-meanings';
import { CODES, knownCode, type Code } from '@parley/protocol/codes';
import type { PageRefusal } from './api.ts';

export const refusalOf = (code: Code): PageRefusal => ({ code, message: MEANINGS[code] });

/** Whether the action may succeed later without a change by the user. */
export const isTemporary = (code: string): boolean => CODES[knownCode(code)].retry;
