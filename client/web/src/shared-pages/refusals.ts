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
    title: 'This tab has reached its memory limit',
    body: 'Close a page in this tab, then try again. Or use another tab.',
  },
  TOO_MANY_PAGES: {
    title: 'This tab has too many pages',
    body: 'Close one of them, then try again. Or use another tab.',
  },
  TOO_MANY_PAGE_REQUESTS: {
    title: 'Too many pages at once',
    body: 'Your network requested too many pages. Try again in a minute.',
  },
  PAGE_INVALID: {
    title: 'This page is damaged',
    body: 'Its content is not consistent, so it is not shown. Ask for another link.',
  },
  POD_FULL: {
    title: 'Parley is full at the moment',
    body: 'This page tries again automatically. This tab keeps its pages.',
  },
  TOO_MANY_SOCKETS: {
    title: 'Too many tabs in your network',
    body: 'Close one that you do not need. This page tries again automatically.',
  },
  NOT_READY: {
    title: 'Almost ready',
    body: 'The service is starting. This page continues automatically.',
  },
  ORIGIN_DENIED: {
    title: 'Pages are not allowed at this address',
    body: 'The service does not accept visitors from here. Open Parley at its own address.',
  },
  BAD_REQUEST: {
    title: 'This cannot be a page',
    body: 'It is empty, or its name is too long. Change it and try again.',
  },
};

const UNKNOWN: Refused = {
  title: 'The request failed',
  body: 'The service had a problem. Load this page again. Other tabs keep their pages.',
};

export function refusedFor({ code }: PageRefusal): Refused {
  return (Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined) ?? UNKNOWN;
}
