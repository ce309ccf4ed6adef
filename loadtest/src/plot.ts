/** The figures as bars: one panel a row, the median as the bar, min to max as a line over it. Plain SVG. */
import type { Machine } from './machine.ts';
import type { Result, RowSummary } from './summary.ts';
import { describe, digits } from './table.ts';

const WIDTH = 860;
const LABELS = 240;
const VALUES = 190;
const BAR = 22;
const STEP = 30;
const PANEL_TOP = 46;
const PANEL_GAP = 18;
const MARGIN = 16;
const FOOT = 30;

export function plot(machine: Machine, rows: readonly RowSummary[]): string {
  let top = MARGIN;
  const panels: string[] = [];
  for (const row of rows) {
    panels.push(`<g transform="translate(${MARGIN} ${top})">${panel(row)}</g>`);
    top += PANEL_TOP + row.results.length * STEP + PANEL_GAP;
  }
  const height = top + FOOT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Cost of signaling: Parley beside two references">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...panels,
    `<text x="${MARGIN}" y="${height - 12}" font-size="11" fill="#666">${escape(describe(machine))}</text>`,
    '</svg>\n',
  ].join('\n');
}

function panel({ title, unit, results }: RowSummary): string {
  const longest = Math.max(...results.map(({ cost }) => cost.max));
  const scale = (WIDTH - 2 * MARGIN - LABELS - VALUES) / longest;
  const [head = '', ...more] = title.split(': ');
  return [
    `<text y="14" font-weight="600" fill="#111">${escape(head)}, ${escape(unit)}</text>`,
    `<text y="32" font-size="11" fill="#666">${escape(more.join(': '))}</text>`,
    ...results.map((result, at) => bar(result, PANEL_TOP + at * STEP, scale)),
  ].join('');
}

function bar({ variant, label, cost, alone, ratio }: Result, y: number, scale: number): string {
  const fill = variant.startsWith('parley') ? '#2456c4' : '#9aa3af';
  const middle = y + BAR / 2;
  const [from, to] = [LABELS + cost.min * scale, LABELS + cost.max * scale];
  const said = `${digits(cost.median)}  (${digits(ratio.median)} x naive)`;
  return [
    `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end" fill="#111">${escape(label)}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${(cost.median * scale).toFixed(1)}" height="${BAR}" fill="${fill}" opacity="0.45"/>`,
    // The pods' part in full colour, what NATS adds paler.
    `<rect x="${LABELS}" y="${y}" width="${(alone.median * scale).toFixed(1)}" height="${BAR}" fill="${fill}"/>`,
    `<path d="M${from.toFixed(1)} ${middle}H${to.toFixed(1)}M${from.toFixed(1)} ${middle - 5}v10M${to.toFixed(1)} ${middle - 5}v10" stroke="#111" fill="none"/>`,
    `<text x="${(to + 8).toFixed(1)}" y="${middle + 4}" fill="#111">${said}</text>`,
  ].join('');
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
