/** `npm run bench-regions`: media and topics over three regions, and the thesis's figures again. Root. The README says what each figure means. */
import { startBench } from './bench-run.ts';
import { digits, doubtOf } from './columns.ts';
import { describeAlone, describeMachine } from './machine.ts';
import { readNumber, readOptions } from './options.ts';
import { plot } from './plot.ts';
import { build } from './programs.ts';
import { publish } from './publish.ts';
import { FULL, PACKAGES, SMOKE } from './regions/plan.ts';
import { scenarios } from './regions/scenarios.ts';
import { startSite, type Site } from './regions/site.ts';
import { copiesTable, panelsOf, pathsTable, topicTable, type Row } from './regions/table.ts';
import { thesisPicture } from './regions/thesis-picture.ts';
import { thesisTable } from './regions/thesis-table.ts';
import { DELAYS_MS, figuresOf, loadOf, setDelays, topologies, type ThesisRun } from './regions/thesis.ts';
import { measureTopic } from './regions/topic.ts';
import { broken, brokenByTopic, judge } from './regions/verdict.ts';
import { verdictText } from './verdict.ts';

const USAGE = `usage: npm run bench-regions -w loadtest -- [options]
  --thesis        instead: sessions of 2, 10, 15 and 20 people on the thesis's topologies
  --smoke         smaller and shorter, without controls (under a minute, for CI)
  --repeats n     how often a load is run again because the machine was not quiet (${FULL.repeats})
  --publish       write docs/evaluation/bench-regions.{json,svg}, or bench-regions-thesis.{json,svg}
  --programs dir  take parley-relay, parley-load and wan-link from there instead of building them`;

const options = readOptions(USAGE, {
  thesis: { type: 'boolean', default: false },
  smoke: { type: 'boolean', default: false },
  repeats: { type: 'string' },
  publish: { type: 'boolean', default: false },
  programs: { type: 'string' },
});
const profile = options.smoke ? SMOKE : FULL;
const repeats = readNumber('--repeats', options.repeats, {
  otherwise: profile.repeats,
  min: 0,
  usage: USAGE,
});
const programs = options.programs ?? build(profile.build, PACKAGES);
const machine = describeMachine();
const foot = `${describeAlone(machine)}; everything on all cores`;
let site: Site | undefined;
const bench = startBench(async () => site?.close());

console.log(describeAlone(machine));
let problems: readonly string[] = ['the bench did not end'];
try {
  site = await startSite(bench.dir, { programs, repeats });
  problems = options.thesis ? await measureThesis(site) : await measureRegions(site);
} finally {
  await site?.close();
}
for (const problem of problems) console.log(`MISSED: ${problem}`);
bench.end(problems.length === 0 ? undefined : 'A promise was broken, or a run had no result');

async function measureRegions(site: Site): Promise<string[]> {
  const rows: Row[] = [];
  const missed: string[] = [];
  for (const scenario of scenarios(profile.sizes)) {
    for (const isControl of profile.hasControls ? [false, true] : [false]) {
      const outcome = await site.run(isControl ? scenario.control : scenario.load, profile.media);
      const verdict = judge(outcome);
      rows.push({ scenario, isControl, outcome, verdict });
      const name = isControl ? `control of ${scenario.name}` : scenario.name;
      console.log(`${name}: ${verdictText(verdict) ?? 'valid'}`);
      if (verdict.verdict !== 'valid') missed.push(`${name}: ${verdict.why}`);
      if (!isControl) missed.push(...broken(scenario, outcome));
    }
  }
  const topic = await measureTopic(site.regions, profile.topic);
  missed.push(...brokenByTopic(topic));
  console.log(`\n${copiesTable(rows)}\n\n${pathsTable(rows)}\n\n${topicTable(topic)}`);
  const outcomes = rows.map(({ outcome }) => outcome);
  for (const doubt of doubtOf('regions', outcomes)) console.log(doubt);
  if (options.publish) {
    const svg = plot(panelsOf(rows, topic), { label: 'Regions: copies and delays', foot });
    publish('bench-regions', { machine, rows, topic, missed }, svg);
  }
  return missed;
}

async function measureThesis(site: Site): Promise<string[]> {
  setDelays(site.regions);
  const runs: ThesisRun[] = [];
  for (const topology of topologies) {
    for (const people of profile.people) {
      const outcome = await site.run(loadOf(topology, people), profile.thesis);
      const run = { topology, people, figures: figuresOf(outcome), outcome, verdict: judge(outcome) };
      runs.push(run);
      const { relayRttMs, jitterMs } = run.figures;
      const figures = `RTT ${digits(relayRttMs)} ms, jitter ${digits(jitterMs)} ms`;
      console.log(`${topology}, ${people} people: ${figures}; ${verdictText(run.verdict) ?? 'valid'}`);
    }
  }
  console.log(`\n${thesisTable(runs)}`);
  const outcomes = runs.map(({ outcome }) => outcome);
  for (const doubt of doubtOf('the thesis', outcomes)) console.log(doubt);
  if (options.publish)
    publish('bench-regions-thesis', { machine, delaysMs: DELAYS_MS, runs }, thesisPicture(runs, { foot }));
  return runs.flatMap(({ topology, people, verdict }) =>
    verdict.verdict === 'failed' ? [`${topology}, ${people} people: ${verdict.why}`] : [],
  );
}
