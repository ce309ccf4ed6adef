/** Figures 5.3 and 5.4 of the thesis again: round trips, jitter and loss over the number of people, a line for each topology. Plain SVG. */
import { digits } from '../columns.ts';
import { escape } from '../plot.ts';
import { THESIS, topologies, type Figures, type ThesisRun, type Topology } from './thesis.ts';

const WIDTH = 860;
const HEIGHT = 200;
const MARGIN = 16;
const LEFT = 60;
/** Where the names of lines begin. */
const RIGHT = 600;
const TOP = 30;
const BOTTOM = 30;
const STEP = HEIGHT + 14;
const LINE = 15;

/** Those of Okabe and Ito: they differ for people who see few colours. Red dashes are the thesis's. */
const COLOURS: Readonly<Record<Topology, string>> = {
  baseline: '#777777',
  'relay in eu': '#56b4e9',
  'relay in us': '#e69f00',
  geographic: '#0072b2',
  pinned: '#d55e00',
};
const THESIS_COLOUR = '#a00';

interface Panel {
  readonly title: string;
  readonly value: (figures: Figures) => number;
  /** Lines of the thesis. */
  readonly references: readonly (readonly [label: string, value: number])[];
}

const references = (of: { readonly 'relay in eu': number; readonly 'relay in us': number }) =>
  [
    [`thesis, relay in the EU: ${of['relay in eu']}`, of['relay in eu']],
    [`thesis, Jitsi in the US: ${of['relay in us']}`, of['relay in us']],
  ] as const;

const PANELS: readonly Panel[] = [
  {
    title: 'Figure 5.3: round trip to the relay, ms, mean of sessions',
    value: ({ relayRttMs }) => relayRttMs,
    references: references(THESIS.rttMs),
  },
  {
    title: 'Round trip between participants, ms, mean of pairs',
    value: ({ rttMs }) => rttMs,
    references: [],
  },
  {
    title: 'Figure 5.4: jitter, ms, mean change of the delay from frame to frame',
    value: ({ jitterMs }) => jitterMs,
    references: references(THESIS.jitterMs),
  },
  { title: 'Lost frames, %', value: ({ loss }) => 100 * loss, references: [] },
];

/** Void and failed runs are hollow. */
export function thesisPicture(runs: readonly ThesisRun[], { foot }: { foot: string }): string {
  const people = [...new Set(runs.map((run) => run.people))].toSorted((a, b) => a - b);
  const height = MARGIN + PANELS.length * STEP + 40;
  const notes = [
    'x: people. Pinned: the people of "geographic", half in the EU and half in the US, all at the relay in the US. Hollow: void or failed.',
    foot,
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Round trip, jitter and loss over the number of people, for each topology">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...PANELS.map(
      (one, at) =>
        `<g transform="translate(${MARGIN} ${MARGIN + at * STEP})">${panel(one, runs, people)}</g>`,
    ),
    ...notes.map(
      (note, at) =>
        `<text x="${MARGIN}" y="${height - 28 + 16 * at}" font-size="11" fill="#666">${escape(note)}</text>`,
    ),
    '</svg>\n',
  ].join('\n');
}

function panel(
  { title, value, references }: Panel,
  runs: readonly ThesisRun[],
  people: readonly number[],
): string {
  const values = [...runs.map(({ figures }) => value(figures)), ...references.map(([, of]) => of)];
  const most = Math.max(...values.filter(Number.isFinite), 0.01);
  const x = (count: number): number =>
    LEFT + (people.length < 2 ? 0 : (people.indexOf(count) / (people.length - 1)) * (RIGHT - LEFT));
  const y = (of: number): number => HEIGHT - BOTTOM - (of / most) * (HEIGHT - TOP - BOTTOM);
  const lines = topologies.map((topology) => {
    const mine = runs.filter((run) => run.topology === topology && Number.isFinite(value(run.figures)));
    return line(
      mine.map((run) => ({
        x: x(run.people),
        y: y(value(run.figures)),
        isValid: run.verdict.verdict === 'valid',
      })),
      COLOURS[topology],
    );
  });
  const axis = people.map(
    (count) =>
      `<text x="${x(count).toFixed(1)}" y="${HEIGHT - 10}" text-anchor="middle" fill="#666">${count}</text>`,
  );
  const dashes = references.map(
    ([, of]) =>
      `<path d="M${LEFT} ${y(of).toFixed(1)}H${RIGHT}" stroke="${THESIS_COLOUR}" stroke-dasharray="5 4" fill="none"/>`,
  );
  return [
    `<text y="14" font-weight="600" fill="#111">${escape(title)}</text>`,
    `<path d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${RIGHT}" stroke="#111" fill="none"/>`,
    `<text x="${LEFT - 8}" y="${TOP + 4}" text-anchor="end" fill="#666">${digits(most)}</text>`,
    `<text x="${LEFT - 8}" y="${HEIGHT - BOTTOM}" text-anchor="end" fill="#666">0</text>`,
    ...axis,
    ...dashes,
    ...lines,
    legend([
      ...topologies.map((topology) => [topology, COLOURS[topology]] as const),
      ...references.map(([label]) => [label, THESIS_COLOUR] as const),
    ]),
  ].join('');
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly isValid: boolean;
}

function line(points: readonly Point[], colour: string): string {
  const at = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const dots = points.map(
    ({ x, y, isValid }) =>
      `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4" fill="${isValid ? colour : '#fff'}" stroke="${colour}"/>`,
  );
  return `<polyline points="${at}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
}

/** The colour of each line, in the order given. */
const legend = (names: readonly (readonly [name: string, colour: string])[]): string =>
  names
    .map(
      ([name, colour], at) =>
        `<rect x="${RIGHT + 20}" y="${TOP + at * LINE}" width="10" height="10" fill="${colour}"/><text x="${RIGHT + 36}" y="${TOP + 9 + at * LINE}" font-size="11" fill="#111">${escape(name)}</text>`,
    )
    .join('');
