/** The threat model and the hostile suite name the same attacks: each that the former names is run, each that is run is named. */

/** In the suite: `name: 'forged-tickets'` and `rules: ['JOIN-7']`. What the call shows is `finding('call-frames', …`. */
const NAME = /\b(?:name: |finding\(\s*)'([a-z][a-z0-9-]+)'/g;
const RULES = /\brules: \[([^\]]*)\]/g;
/** In documents: `hostile:forged-tickets`. */
const NAMED = /`hostile:([a-z0-9-]+)`/g;

export interface Disagreement {
  /** Named by documents, and not run. */
  readonly unknown: readonly string[];
  /** Run, and not in the threat model. */
  readonly unnamed: readonly string[];
  /** Cited by attacks, and in no specification. */
  readonly noRules: readonly string[];
}

export function compareAttacks(
  sources: readonly string[],
  documents: readonly string[],
  rules: ReadonlySet<string>,
): Disagreement {
  const run = new Set(sources.flatMap((text) => all(NAME, text)));
  const named = new Set(documents.flatMap((text) => all(NAMED, text)));
  const cited = sources.flatMap((text) => all(RULES, text)).flatMap((list) => all(/'([A-Z]+-\d+)'/g, list));
  return {
    unknown: [...named].filter((name) => !run.has(name)),
    unnamed: [...run].filter((name) => !named.has(name)),
    noRules: [...new Set(cited)].filter((rule) => !rules.has(rule)),
  };
}

const all = (pattern: RegExp, text: string): string[] =>
  Array.from(text.matchAll(pattern), ([, found]) => found ?? '');
