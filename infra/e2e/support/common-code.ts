/** The security code that participants compare. */
import assert from 'node:assert/strict';
import { until } from './until.ts';
import type { Visitor } from './visitor.ts';

const WITHIN_MS = 20_000;

/** The code that the pages of all of them show in the end. */
export async function commonCode(people: readonly Visitor[]): Promise<string> {
  for (const { page } of people) await page.getByTestId('open-path').click();
  let codes: readonly string[] = [];
  await until(
    async () => {
      const shown = people.map(({ page }) => page.getByTestId('security-code').allTextContents());
      codes = (await Promise.all(shown)).flat();
      return codes.length === people.length && new Set(codes).size === 1;
    },
    { withinMs: WITHIN_MS, what: () => `one code for ${people.length}: ${codes.join(', ')}` },
  );
  for (const { page } of people) await page.keyboard.press('Escape');
  const [code = ''] = codes;
  assert.match(code, /^\d{5} \d{5} \d{5} \d{5}$/);
  return code;
}
