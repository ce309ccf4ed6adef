/** The memory of tabs of Chromium. */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';

/**
 * Bytes that the scripts of the page hold now, with what the next garbage collection frees. To force one would stop the page for up to a second.
 */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  try {
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  } finally {
    await session.detach();
  }
}

/** Bytes of anonymous memory (`RssAnon`) of all processes of the browser that render pages. */
export async function residentOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer');
    return renderers.reduce((sum, { id }) => sum + anonymousOf(id), 0);
  } finally {
    await session.detach();
  }
}

/** 0 where the process has ended. */
function anonymousOf(pid: number): number {
  try {
    const [, kilobytes = 0] =
      /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}
