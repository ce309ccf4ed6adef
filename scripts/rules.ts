/** Which rules of the specifications no test cites: in brackets in a title, in the name of a function in Rust, or as the `rule` of a fixture. */

/** Each is a list item that begins with its id in bold. */
const RULE = /^- \*\*([A-Z]+-\d+)\*\*(.*)$/gm;
const TITLE = /\[([A-Z]+-\d+)\]/g;
const FIXTURE = /"rule": "([A-Z]+-\d+)"/g;
/** `fn str_1_to_3_and_6_the_path_names_…`, with the attributes and comments before it. */
const FUNCTION =
  /((?:^[ \t]*(?:#\[|\/\/).*\n)*)^[ \t]*(?:pub )?(?:async )?fn ((str|med|media)_(\d+(?:_(?:and|to)_\d+)*)\w*)/gm;
/** The same in a path that ends with the function. */
const NAME = /(?:^|::)(str|med|media)_(\d+(?:_(?:and|to)_\d+)*)\w*$/;
/** `#[test]`, `#[tokio::test(flavor = …)]`. */
const TEST_ATTRIBUTE = /#\[(?:\w+::)?test\b/;
/** Tests that no run of the file executes. A condition, as in `skip: isRoot ? false : 'needs root'`, is accepted. */
const NEVER_RUN = /\b(?:test|it|describe|suite)\.(?:skip|todo|only)\(|\b(?:skip|todo): (?:true\b|['"`])/;
/** At the beginning of a line, as a string may contain the same characters. */
const COMMENT = /^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm;

export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Tests or fixtures that cite rules. */
export interface Citation {
  /** The name of the function in Rust; empty elsewhere. */
  readonly name: string;
  readonly rules: readonly string[];
}

/** The ids of rules that are in force. */
export function rulesOf({ text }: Page): string[] {
  return [...text.matchAll(RULE)].flatMap(([, id = '', rule = '']) =>
    rule.trim().toLowerCase().startsWith('_withdrawn_') ? [] : [id],
  );
}

/** The tests and fixtures of a file that cite rules, without functions in Rust that are not run as tests; none where the file is neither. */
export function testsIn({ path, text }: Page): Citation[] {
  if (path.endsWith('.rs')) return [...text.matchAll(FUNCTION)].filter(isRun).map(functionOf);
  if (/\.test\.tsx?$/.test(path)) return all(TITLE, text.replaceAll(COMMENT, ''));
  if (/\/fixtures\/.*\.json$/.test(path)) return all(FIXTURE, text);
  return [];
}

const all = (pattern: RegExp, text: string): Citation[] =>
  Array.from(text.matchAll(pattern), ([, id = '']) => ({ name: '', rules: [id] }));

const isRun = ([, attributes = '']: RegExpMatchArray): boolean =>
  TEST_ATTRIBUTE.test(attributes) && !attributes.includes('#[ignore');

const functionOf = ([, , name = '', family = '', numbers = '']: RegExpMatchArray): Citation => ({
  name,
  rules: numbersIn(numbers).map((number) => `${family.toUpperCase()}-${number}`),
});

/** `1_to_3_and_6`: 1, 2, 3, 6. */
function numbersIn(numbers: string): number[] {
  const found: number[] = [];
  for (const [, word, digits] of `_and_${numbers}`.matchAll(/_(and|to)_(\d+)/g)) {
    const last = found.at(-1);
    const number = Number(digits);
    if (word === 'to' && last !== undefined) for (let at = last + 1; at < number; at += 1) found.push(at);
    found.push(number);
  }
  return found;
}

/** Whether the title of a test, or the path of a function in Rust, cites the rule. */
export function citesRule(title: string, rule: string): boolean {
  if (title.includes(`[${rule}]`)) return true;
  const [, family = '', numbers = ''] = NAME.exec(title) ?? [];
  return numbersIn(numbers).some((number) => `${family.toUpperCase()}-${number}` === rule);
}

/** `{page}: {ids}` for every page with rules that no file cites. */
export function uncited(pages: readonly Page[], files: Iterable<Page>): string[] {
  const cited = new Set<string>();
  for (const file of files) for (const { rules } of testsIn(file)) for (const id of rules) cited.add(id);
  return pages.flatMap((page) => {
    const missing = rulesOf(page).filter((id) => !cited.has(id));
    return missing.length === 0 ? [] : [`${page.path}: ${missing.join(', ')}`];
  });
}

/**
 * What a file cites in vain: `{path}: {reason}` where it cites rules and a test in it never runs, or nothing runs the file. `covered`: the test files
 * that a command of a package runs, and the files of Rust that a crate contains.
 */
export function inVain(files: Iterable<Page>, covered: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const { path, text } of files) {
    const isTest = /\.test\.tsx?$/.test(path);
    if (!isTest && !path.endsWith('.rs')) continue;
    if (isTest) {
      if (testsIn({ path, text }).length === 0) continue;
      const [never] = NEVER_RUN.exec(text.replaceAll(COMMENT, '')) ?? [];
      if (never !== undefined) found.push(`${path}: \`${never}\``);
    } else {
      const functions = [...text.matchAll(FUNCTION)];
      if (functions.length === 0) continue;
      for (const [, , name] of functions.filter((one) => !isRun(one)))
        found.push(`${path}: ${name} is ignored, or no test`);
    }
    if (!covered.has(path)) found.push(`${path}: no command runs it`);
  }
  return found;
}
