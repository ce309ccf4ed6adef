/** Round trip, jitter and loss over the number of people, for one relay and for two. Plain SVG. */
import { digits } from '../columns.ts';
import { escape } from '../plot.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './summary.ts';

const WIDTH = 860;
const HEIGHT = 190;
const MARGIN = 16;
const LEFT = 60;
const TOP = 44;
const BOTTOM = 30;
const STEP = HEIGHT + 14;
const COLOURS = { 1: '#9aa3af', 2: '#2456c4' } as const;

interface Panel {
  readonly title: string;
  readonly value: (outcome: Outcome) => number;
}

const PANELS: readonly Panel[] = [
  { title: 'Round trip, ms, p50 of sessions', value: ({ rttMs }) => rttMs.p50 },
  { title: 'Jitter, ms, p50 of participants (RFC 3550)', value: ({ jitterMs }) => jitterMs.p50 },
  { title: 'Lost frames, %', value: ({ loss }) => 100 * loss.share },
];

/** Void and failed runs are hollow. */
export function picture(runs: readonly Run[], { foot }: { foot: string }): string {
  const people = [...new Set(runs.map(({ step }) => step.participants))].toSorted((a, b) => a - b);
  const height = MARGIN + PANELS.length * STEP + 40;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Round trip, jitter and loss over the number of people">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...PANELS.map(
      (one, at) =>
        `<g transform="translate(${MARGIN} ${MARGIN + at * STEP})">${panel(one, runs, people)}</g>`,
    ),
    `<text x="${MARGIN}" y="${height - 28}" font-size="11" fill="#666">grey: one relay; blue: two; hollow: void or failed. The thesis: Jitsi on one server of 1 CPU and 1 GB lost everything at 20 people.</text>`,
    `<text x="${MARGIN}" y="${height - 12}" font-size="11" fill="#666">${escape(foot)}</text>`,
    '</svg>\n',
  ].join('\n');
}

function panel({ title, value }: Panel, runs: readonly Run[], people: readonly number[]): string {
  const most = Math.max(...runs.map(({ outcome }) => value(outcome)), 0.01);
  const right = WIDTH - 2 * MARGIN - 20;
  const x = (count: number): number =>
    LEFT + (people.length < 2 ? 0 : (people.indexOf(count) / (people.length - 1)) * (right - LEFT));
  const y = (of: number): number => HEIGHT - BOTTOM - (of / most) * (HEIGHT - TOP - BOTTOM);
  const axis = people
    .map(
      (count) =>
        `<text x="${x(count).toFixed(1)}" y="${HEIGHT - 10}" text-anchor="middle" fill="#666">${count}</text>`,
    )
    .join('');
  const lines = ([1, 2] as const).map((relays) => {
    const mine = runs.filter(({ step }) => step.relays === relays);
    const points = mine.map(
      ({ step, outcome }) => `${x(step.participants).toFixed(1)},${y(value(outcome)).toFixed(1)}`,
    );
    const dots = mine.map(({ verdict }, at) => {
      const [cx, cy] = points[at]?.split(',') ?? [];
      const fill = verdict.verdict === 'valid' ? COLOURS[relays] : '#fff';
      return `<circle cx="${cx}" cy="${cy}" r="4" fill="${fill}" stroke="${COLOURS[relays]}"/>`;
    });
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS[relays]}" stroke-width="2"/>${dots.join('')}`;
  });
  return [
    `<text y="14" font-weight="600" fill="#111">${escape(title)}</text>`,
    `<path d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${right}" stroke="#111" fill="none"/>`,
    `<text x="${LEFT - 8}" y="${TOP + 4}" text-anchor="end" fill="#666">${digits(most)}</text>`,
    `<text x="${LEFT - 8}" y="${HEIGHT - BOTTOM}" text-anchor="end" fill="#666">0</text>`,
    axis,
    ...lines,
  ].join('');
}
