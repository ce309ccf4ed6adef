/** `npm run bench-calls`: from glass to glass between two browsers, on each path of media. The README says what each figure means. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { connectsBy } from '@parley/e2e/support/paths.ts';
import { readSlates, slates } from '@parley/e2e/support/slate.ts';
import { Visitor } from '@parley/e2e/support/visitor.ts';
import { adHocRoomId } from '@parley/protocol/ids';
import { outcomeOf, tableOf, type Delay, type Outcome } from './calls/outcome.ts';
import { SCENARIOS, type Scenario } from './calls/scenarios.ts';
import { describeAlone, describeMachine } from './machine.ts';
import { readNumber, readOptions, refuse } from './options.ts';
import { plot, type Bar } from './plot.ts';
import { publish } from './publish.ts';

const USAGE = `usage: npm run bench-calls -w loadtest -- [options]
  --only text   only the paths whose name contains it
  --seconds n   how long each is measured (30)
  --publish     write docs/evaluation/bench-calls.{json,svg}`;
/** Until delays are what they stay. */
const SETTLED_MS = 6000;

const options = readOptions(USAGE, {
  only: { type: 'string', default: '' },
  seconds: { type: 'string' },
  publish: { type: 'boolean', default: false },
});
const seconds = readNumber('--seconds', options.seconds, { otherwise: 30, min: 1, usage: USAGE });
const scenarios = SCENARIOS.filter(({ name }) => name.includes(options.only));
if (scenarios.length === 0) {
  const known = SCENARIOS.map(({ name }) => name).join('; ');
  refuse(`no path has "${options.only}" in its name; known: ${known}`, USAGE);
}

const machine = describeMachine();
console.log(describeAlone(machine));
const outcomes: Outcome[] = [];
for (const scenario of scenarios) {
  const outcome = await measure(scenario);
  outcomes.push(outcome);
  console.log(`${scenario.name}: ${JSON.stringify(outcome)}`);
}
console.log(`\n${tableOf(outcomes)}`);
if (options.publish) {
  const foot = `${describeAlone(machine)}; p50, lines from p5 to p95; ${seconds} s each, both ways`;
  const panels = [
    {
      title: 'Pictures, glass to glass',
      note: 'ms from drawing to display',
      bars: bars(({ pictures }) => pictures),
    },
    { title: 'Sounds', note: 'ms from the tone to its sound', bars: bars(({ sounds }) => sounds) },
  ];
  publish('bench-calls', { machine, seconds, outcomes }, plot(panels, { label: 'Delay on each path', foot }));
}

async function measure({ name, path, webSocketOnly, open }: Scenario): Promise<Outcome> {
  const place = await open();
  try {
    const room = adHocRoomId(randomBytes(16));
    const people: Visitor[] = [];
    for (const [nth, browser] of place.browsers.entries())
      people.push(
        await Visitor.join(browser, { name: `P${nth}`, web: place.web, room, slate: true, webSocketOnly }),
      );
    for (const one of people) await connectsBy(one, path, 1);
    await pause(SETTLED_MS);
    for (const { page } of people) await readSlates(page);
    await pause(seconds * 1000);
    const read = await Promise.all(people.map(({ page }) => slates(page)));
    return outcomeOf(name, read.flat());
  } finally {
    await place.close();
  }
}

function bars(of: (outcome: Outcome) => Delay): Bar[] {
  return outcomes.map((outcome) => {
    const { p5, p50, p95 } = of(outcome);
    return {
      label: outcome.way,
      value: { median: p50, min: p5, max: p95 },
      own: p50,
      text: `${Math.round(p50)} (${Math.round(p95)})`,
      isOurs: true,
    };
  });
}
