/** Which rules of the specifications no test cites: in brackets in a title, in the name of a function in Rust, or as the `rule` of a fixture. */

/** Each is a list item that begins with its id in bold. */
const RULE = /^- \*\*([A-Z]+-\d+)\*\*(.*)$/gm;
const TITLE = /\[([A-Z]+-\d+)\]/g;
const FIXTURE = /"rule": "([A-Z]+-\d+)"/g;
/** `fn str_1_to_3_and_6_the_path_names_…` */
const FUNCTION = /\bfn (str|med)_(\d+(?:_(?:and|to)_\d+)*)/g;

export interface Page {
  readonly path: string;
  readonly text: string;
}

/** The ids of rules that are in force. */
export function rulesOf({ text }: Page): string[] {
  return [...text.matchAll(RULE)].flatMap(([, id = '', rule = '']) =>
    rule.trim().toLowerCase().startsWith('_withdrawn_') ? [] : [id],
  );
}

/** The ids that a file cites as a test or a fixture; none where it is neither. */
export function citedIn({ path, text }: Page): string[] {
  if (path.endsWith('.rs')) return [...text.matchAll(FUNCTION)].flatMap(inName);
  if (/\.test\.tsx?$/.test(path)) return [...text.matchAll(TITLE)].map(([, id = '']) => id);
  if (/\/fixtures\/.*\.json$/.test(path)) return [...text.matchAll(FIXTURE)].map(([, id = '']) => id);
  return [];
}

function inName([, family = '', numbers = '']: RegExpMatchArray): string[] {
  const found: number[] = [];
  for (const [, word, digits] of `_and_${numbers}`.matchAll(/_(and|to)_(\d+)/g)) {
    const last = found.at(-1);
    const number = Number(digits);
    if (word === 'to' && last !== undefined) for (let at = last + 1; at < number; at += 1) found.push(at);
    found.push(number);
  }
  return found.map((number) => `${family.toUpperCase()}-${number}`);
}

/** `{page}: {ids}` for every page with rules that no file cites. */
export function uncited(pages: readonly Page[], files: Iterable<Page>): string[] {
  const cited = new Set<string>();
  for (const file of files) for (const id of citedIn(file)) cited.add(id);
  return pages.flatMap((page) => {
    const missing = rulesOf(page).filter((id) => !cited.has(id));
    return missing.length === 0 ? [] : [`${page.path}: ${missing.join(', ')}`];
  });
}
