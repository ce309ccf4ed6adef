/** `npm run bench-pages`: a page that many want at once, and one that many hold. The README says what each figure means. */
import { describeAlone, describeMachine } from './machine.ts';
import { measureHolders, type Holders } from './pages/holders.ts';
import { measureSwarm, type Swarm } from './pages/swarm.ts';
import {
  holdersTable,
  inexact,
  kbPerVisitor,
  mebibytes,
  missed,
  ORIGINAL_KB,
  swarmTable,
} from './pages/table.ts';
import { readNames, readOptions } from './options.ts';
import { barOf, plot } from './plot.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';

const USAGE = `usage: npm run bench-pages -w loadtest -- [options]
  --only swarm|holders
  --smoke       small: exactness alone
  --publish     write docs/evaluation/bench-pages.{json,svg}
  --programs d  take parley-load from there instead of building it`;

const PARTS = ['swarm', 'holders'];
const options = readOptions(USAGE, {
  only: { type: 'string' },
  smoke: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  programs: { type: 'string' },
});
const parts = readNames(options.only, { known: PARTS, defaults: PARTS, usage: USAGE });

const MIB = 1024 * 1024;

/** The largest page that is allowed, to a class; the original's peak. */
const FULL = { readers: 20, sizes: [1 * MIB, 16 * MIB], visitors: 880, perSecond: 100 };
const SMOKE = { readers: 4, sizes: [2 * MIB], visitors: 100, perSecond: 100 };
const { readers, sizes, visitors, perSecond } = options.smoke ? SMOKE : FULL;

const machine = describeMachine();
console.log(describeAlone(machine));
const holders = parts.includes('holders') ? await measure() : undefined;
if (holders) console.log(`\n${holdersTable(holders)}`);
const swarms: Swarm[] = [];
for (const bytes of parts.includes('swarm') ? sizes : []) {
  const swarm = await measureSwarm(readers, bytes);
  swarms.push(swarm);
  console.log(`\n${swarmTable(swarm)}`);
}
const largest = swarms.at(-1);
if (options.publish && holders && largest)
  publish('bench-pages', { machine, holders, swarms }, plot(panels(holders, largest), about()));
const why = (options.smoke ? inexact : missed)(swarms, holders);
console.log(`\n${why === undefined ? 'as it should be' : `MISSED: ${why}`}`);
process.exitCode = why === undefined ? 0 : 1;

/** Of many holders, by `parley-load`. */
function measure(): Promise<Holders> {
  return measureHolders(options.programs ?? build('dev', ['parley-load']), { visitors, perSecond });
}

function panels(held: Holders, wanted: Swarm): Parameters<typeof plot>[0] {
  return [
    {
      title: 'What the first holder gives',
      note: `copies of ${mebibytes(wanted.bytes)}, ${wanted.readers} readers at once`,
      bars: [barOf('swarm', wanted.copies, true), barOf('star: a copy each', wanted.readers, false)],
    },
    {
      title: 'Memory of the server for each visitor',
      note: `KB, ${held.visitors} holders of one page`,
      bars: [
        barOf('Parley', kbPerVisitor(held), true),
        barOf('the original, as published', ORIGINAL_KB, false),
      ],
    },
    {
      title: 'Messages to each visitor',
      note: `${held.visitors} come one after the other`,
      bars: [
        barOf('counts, coalesced', held.messagesPerVisitor, true),
        barOf('one for each arrival', held.messagesNaively, false),
      ],
    },
  ];
}

function about(): Parameters<typeof plot>[1] {
  return { label: 'Pages: a swarm, memory and messages', foot: describeAlone(machine) };
}
