/** The encrypted frames that a page decrypts, as WebCrypto sees them: when, under which key of their sender, and whether they open. */
import type { Page } from 'playwright-core';

export interface EncryptedFrame {
  /** On the clock of the page, in ms. */
  readonly at: number;
  /** The key id in the header of its SFrame, which is authenticated. */
  readonly kid: number;
  readonly opens: boolean;
}

interface PageScope {
  parleyFrames: EncryptedFrame[];
}

export const encryptedFrames = (page: Page): Promise<EncryptedFrame[]> =>
  page.evaluate(() => (globalThis as unknown as PageScope).parleyFrames);

/** Runs in the page, before its scripts. */
export function noteEncryptedFrames(): void {
  const frames: EncryptedFrame[] = [];
  Object.assign(globalThis, { parleyFrames: frames });
  const { subtle } = crypto;
  const decrypt = subtle.decrypt.bind(subtle);
  const noting: typeof decrypt = async (parameters, key, data) => {
    const header = (parameters as AesGcmParams).additionalData;
    if (!(header instanceof Uint8Array)) return decrypt(parameters, key, data);
    const [config = 0, next = 0] = header;
    // A key id below eight is in the first byte.
    const kid = config >> 7 === 0 ? config >> 4 : next;
    try {
      const opened = await decrypt(parameters, key, data);
      frames.push({ at: performance.now(), kid, opens: true });
      return opened;
    } catch (error) {
      frames.push({ at: performance.now(), kid, opens: false });
      throw error;
    }
  };
  Object.defineProperty(subtle, 'decrypt', { value: noting });
}
