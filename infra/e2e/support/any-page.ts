/** What Playwright's pages and Puppeteer's have in common, so that what looks at them serves both. */
export interface AnyPage {
  evaluate<Result>(run: () => Result): Promise<Awaited<Result>>;
}

export interface Somebody {
  readonly name: string;
  readonly page: AnyPage;
}
