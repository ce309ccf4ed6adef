/**
 * Counts the elements that an SVG draws. It may reference its parts many times, at several levels: eleven levels of ten references are a few
 * hundred bytes and a hundred billion elements.
 */

/** The parts of an element that are used here. */
export interface SvgElement {
  readonly localName: string;
  readonly textContent: string | null;
  readonly children: ArrayLike<SvgElement>;
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>;
}

/** No real drawing is nested more deeply. */
const MAX_DEPTH = 1000;

/** Infinity if the nesting is too deep. */
export function countDrawnElements(root: SvgElement): number {
  const all: SvgElement[] = [];
  const byId = new Map<string, SvgElement>();
  const pending = [root];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    all.push(next);
    const id = attribute(next, 'id');
    if (id !== undefined && !byId.has(id)) byId.set(id, next);
    for (let index = 0; index < next.children.length; index++) {
      const child = next.children[index];
      if (child) pending.push(child);
    }
  }
  const known = new Map<SvgElement, number>();
  const count = (element: SvgElement | undefined, depth: number): number => {
    if (element === undefined) return 0;
    const before = known.get(element);
    if (before !== undefined) return before;
    if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY;
    // In a cycle browsers skip only the innermost reference, however often it is used elsewhere.
    known.set(element, Number.POSITIVE_INFINITY);
    let sum = 1;
    for (let index = 0; index < element.children.length; index++)
      sum += count(element.children[index], depth + 1);
    for (const id of used(element)) sum += count(byId.get(id), depth + 1);
    known.set(element, sum);
    return sum;
  };
  let sum = count(root, 0);
  // A style sheet may apply a referenced element to every element.
  for (const element of all)
    if (element.localName === 'style')
      for (const [, fragment = ''] of (element.textContent ?? '').matchAll(LOCAL))
        sum += all.length * count(byId.get(idIn(fragment)), 0);
  return sum;
}

const LOCAL = /url\(\s*["']?#([^"')\s]+)/gi;

function* used(element: SvgElement): Generator<string> {
  for (let index = 0; index < element.attributes.length; index++) {
    const { name = '', value = '' } = element.attributes[index] ?? {};
    if (/(?:^|:)href$/.test(name)) {
      // A link does not draw its target.
      if (element.localName !== 'a') yield idIn(value.replace(/^\s*#/, ''));
    } else for (const [, fragment = ''] of value.matchAll(LOCAL)) yield idIn(fragment);
  }
}

/** Resolved as in browsers. */
function idIn(fragment: string): string {
  const written = fragment.replaceAll(/[\t\n\r]/g, '').trim();
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

function attribute(element: SvgElement, name: string): string | undefined {
  for (let index = 0; index < element.attributes.length; index++)
    if (element.attributes[index]?.name === name) return element.attributes[index]?.value;
  return undefined;
}
