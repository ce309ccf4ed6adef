/** How a participant uses the controls of a call. */
import type { Visitor } from './visitor.ts';

/** `plain`: on. */
export async function switchMicrophone({ page }: Visitor, to: 'plain' | 'off'): Promise<void> {
  await page.getByTestId('control-microphone').click();
  await page.locator(`[data-testid=control-microphone][data-look=${to}]`).waitFor();
}
