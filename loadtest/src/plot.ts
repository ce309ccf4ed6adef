/** The figures as bars: one panel a row, the median as the bar, min to max as a line over it. Plain SVG. */
import { digits } from './columns.ts';
import type { Spread } from './statistics.ts';

export interface Panel {
  readonly title: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: Spread;
  /** The part in full colour; what another program adds is paler. */
  readonly own: number;
  /** Behind the bar. */
  readonly text: string;
  readonly isOurs: boolean;
}

/** A bar of one value. */
export const barOf = (label: string, value: number, isOurs: boolean): Bar => ({
  label,
  value: { median: value, min: value, max: value },
  own: value,
  text: digits(value),
  isOurs,
});

const WIDTH = 860;
const LABELS = 240;
const VALUES = 190;
const BAR = 22;
const STEP = 30;
const PANEL_TOP = 46;
const PANEL_GAP = 18;
const MARGIN = 16;
const FOOT = 30;

export function plot(panels: readonly Panel[], { label, foot }: { label: string; foot: string }): string {
  let top = MARGIN;
  const drawn: string[] = [];
  for (const one of panels) {
    drawn.push(`<g transform="translate(${MARGIN} ${top})">${panel(one)}</g>`);
    top += PANEL_TOP + one.bars.length * STEP + PANEL_GAP;
  }
  const height = top + FOOT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="${escape(label)}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...drawn,
    `<text x="${MARGIN}" y="${height - 12}" font-size="11" fill="#666">${escape(foot)}</text>`,
    '</svg>\n',
  ].join('\n');
}

function panel({ title, note, bars }: Panel): string {
  const longest = Math.max(...bars.map(({ value }) => value.max));
  const scale = (WIDTH - 2 * MARGIN - LABELS - VALUES) / longest;
  return [
    `<text y="14" font-weight="600" fill="#111">${escape(title)}</text>`,
    `<text y="32" font-size="11" fill="#666">${escape(note)}</text>`,
    ...bars.map((one, at) => bar(one, PANEL_TOP + at * STEP, scale)),
  ].join('');
}

function bar({ label, value, own, text, isOurs }: Bar, y: number, scale: number): string {
  const fill = isOurs ? '#2456c4' : '#9aa3af';
  const middle = y + BAR / 2;
  const [from, to] = [LABELS + value.min * scale, LABELS + value.max * scale];
  return [
    `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end" fill="#111">${escape(label)}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${(value.median * scale).toFixed(1)}" height="${BAR}" fill="${fill}" opacity="0.45"/>`,
    `<rect x="${LABELS}" y="${y}" width="${(own * scale).toFixed(1)}" height="${BAR}" fill="${fill}"/>`,
    `<path d="M${from.toFixed(1)} ${middle}H${to.toFixed(1)}M${from.toFixed(1)} ${middle - 5}v10M${to.toFixed(1)} ${middle - 5}v10" stroke="#111" fill="none"/>`,
    `<text x="${(to + 8).toFixed(1)}" y="${middle + 4}" fill="#111">${escape(text)}</text>`,
  ].join('');
}

/** Text of an SVG. */
export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
