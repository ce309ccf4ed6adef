/** A participant without camera: initials on a color that stays the same. */

/** Number of `.hue-N` classes in avatar.css. */
const HUES = 8;

export function hueOf(seed: string): string {
  let hash = 7;
  for (const char of seed) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return `hue-${hash % HUES}`;
}

/** First letters of the first and last word; emoji and other scripts count as letters. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const first = Array.from(words[0] ?? '?')[0] ?? '?';
  const last = words.length > 1 ? (Array.from(words.at(-1) ?? '')[0] ?? '') : '';
  return (first + last).toUpperCase();
}

export function Avatar({ name, seed }: { readonly name: string; readonly seed: string }) {
  return (
    <span class={`avatar ${hueOf(seed)}`} aria-hidden="true">
      {initials(name)}
    </span>
  );
}
