/** The common part of Playwright's and Puppeteer's pages, so that measurements work with both. */
export interface AnyPage {
  evaluate<Result>(run: () => Result): Promise<Awaited<Result>>;
}

export interface Person {
  readonly name: string;
  readonly page: AnyPage;
}
