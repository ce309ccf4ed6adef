/** The regions of the installation, which the SDK knows from the last call in this browser, and the one that a link asks for. */
import type { CallMemory } from '@parley/sdk/call';
import { browserStore } from './storage.ts';

const REGIONS = 'parley.regions';

export const regionMemory: CallMemory = {
  read: () => browserStore.read(REGIONS),
  write: (value) => browserStore.write(REGIONS, value),
};

/** `?region=` in the address of a room; `undefined` without it. */
export const regionIn = (search: string): string | undefined =>
  new URLSearchParams(search).get('region') ?? undefined;
