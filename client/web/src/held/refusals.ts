/** The sentences for refusals about pages. */
import type { PageRefusal } from '@parley/sdk/pages/api';

export interface Refused {
  readonly title: string;
  readonly body: string;
}

export const REFUSALS: Readonly<Record<string, Refused>> = {
  PAGE_TOO_LARGE: {
    title: 'This is too large for a page',
    body: 'Every reader keeps the complete page in memory. Share something smaller.',
  },
  PAGES_TOO_LARGE: {
    title: 'This tab has as much as it can hold',
    body: 'Close a page in this tab, then try again. Or use another tab.',
  },
  TOO_MANY_PAGES: {
    title: 'This tab has too many pages',
    body: 'Close one of them, then try again. Or use another tab.',
  },
  TOO_MANY_PAGE_REQUESTS: {
    title: 'A moment, please',
    body: 'Too many pages are asked for from your network at once. Try again in a minute.',
  },
  PAGE_INVALID: {
    title: 'What is at this address is no page',
    body: 'It does not agree with itself, so nothing of it is shown. Ask for another link.',
  },
  POD_FULL: {
    title: 'Parley is full at the moment',
    body: 'The page tries again by itself. What this tab holds stays.',
  },
  TOO_MANY_SOCKETS: {
    title: 'Too many tabs in your network',
    body: 'Close one that you do not need. The page tries again by itself.',
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'The service is just starting. The page goes on by itself.',
  },
  ORIGIN_DENIED: {
    title: 'This address may not have pages',
    body: 'The service does not accept visitors from here. Open Parley at its own address.',
  },
  BAD_REQUEST: {
    title: 'That cannot be a page',
    body: 'It is empty, or its name is too long. Change it and try again.',
  },
};

const UNKNOWN: Refused = {
  title: 'That did not work',
  body: 'The service had a problem. Load this page again; what other tabs hold stays.',
};

export function refusedFor({ code }: PageRefusal): Refused {
  return (Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined) ?? UNKNOWN;
}
