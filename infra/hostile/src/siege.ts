/**
 * The siege: silent connections, fragments, junk joins and a TURN flood at once, from sixty networks, for a minute, during a call, and while
 * other participants join. `--publish` saves the figures.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { commitOf } from '@parley/local/commit';
import { withArena } from './arena.ts';
import { startCall } from './call/start.ts';
import { readStates, watchMemory } from './processes.ts';
import { conclude, print } from './report.ts';
import type { SiegePlan, SiegeReport } from './siege/plan.ts';
import { floodTurn } from './siege/turn-flood.ts';
import { NETS, address } from './sources.ts';
import { USUAL_BOUNDS, judgeCall, judgeProcesses, type Bounds } from './verdict.ts';

const SECONDS = 60;
const NETWORKS = 60;
/** Each process may open 20,000 descriptors at most, and shares the work of TLS-less connections with the other. */
const GENERATORS = 2;
const TOTAL = { silent: 10_000, fragmenting: 500, junkJoinsPerSecond: 50 };
/** Twice the promised value without a flood. */
const BOUNDS: Bounds = {
  ...USUAL_BOUNDS,
  frameGapMs: 2000,
  chatMs: 2000,
  newcomerMs: 2000,
  logBytes: 50_000_000,
};
const REPORT_WITHIN_MS = 30_000;

const networks = Array.from({ length: NETWORKS }, (_, number) => address(NETS.siege, number));

function startGenerator(edge: string): ChildProcess {
  const plan: SiegePlan = {
    edge,
    from: networks,
    silent: TOTAL.silent / GENERATORS,
    fragmenting: TOTAL.fragmenting / GENERATORS,
    junkJoinsPerSecond: TOTAL.junkJoinsPerSecond / GENERATORS,
  };
  const child = fork(fileURLToPath(new URL('siege/generator.ts', import.meta.url)), [JSON.stringify(plan)]);
  process.once('exit', () => void child.kill('SIGKILL'));
  return child;
}

async function reportOf(child: ChildProcess): Promise<SiegeReport> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(REPORT_WITHIN_MS) });
  child.send('stop');
  const [report] = (await answer) as [SiegeReport];
  return report;
}

const { findings, figures } = await withArena(true, async (arena) => {
  const before = readStates(arena.stack.endpoints);
  const memory = watchMemory(arena.stack.endpoints);
  const call = await startCall({ edge: arena.edge, room: arena.room(), newcomerEveryMs: 500 });
  const generators = Array.from({ length: GENERATORS }, () => startGenerator(arena.edge));
  const turn = floodTurn(arena, networks);
  await pause(SECONDS * 1000);
  const reports = await Promise.all(generators.map(reportOf));
  const turnReport = await turn.stop();
  const callReport = await call.stop();
  memory.stop();
  const after = readStates(arena.stack.endpoints);
  const found = [
    ...judgeCall(callReport, BOUNDS, () => 'the siege'),
    ...judgeProcesses(before, after, memory.peak, BOUNDS),
  ];
  return {
    findings: found,
    figures: {
      seconds: SECONDS,
      networks: NETWORKS,
      machine: { cores: cpus().length, cpu: cpus()[0]?.model ?? 'unknown', node: process.version },
      asked: TOTAL,
      generators: reports,
      turn: turnReport,
      call: callReport,
      processes: Object.fromEntries(
        Object.entries(before).map(([name, { rssMb, logBytes }]) => [
          name,
          {
            beforeMb: rssMb,
            mostMb: memory.peak.get(name) ?? 0,
            afterMb: after[name]?.rssMb ?? 0,
            logBytes: (after[name]?.logBytes ?? 0) - logBytes,
          },
        ]),
      ),
    },
  };
});

for (const finding of findings) print(finding);
for (const report of figures.generators) console.log(JSON.stringify(report));
console.log(JSON.stringify(figures.turn));
if (process.argv.includes('--publish')) {
  const directory = fileURLToPath(new URL('../../../docs/evaluation/', import.meta.url));
  mkdirSync(directory, { recursive: true });
  const report = { at: new Date().toISOString(), commit: commitOf(), ...figures };
  writeFileSync(`${directory}hostile.json`, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`written: ${directory}hostile.json`);
}
conclude(findings);
