/**
 * The hostile suite: a whole Parley, a call of four that behaves well, and attacks on everything around it. Prints one line for each
 * attack, then what the call noticed. `--short` for `make test`; `--only NAME` for one attack.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withArena, type Arena } from './arena.ts';
import type { Attack } from './attack.ts';
import { ATTACKS } from './attacks/all.ts';
import { startCall } from './call/start.ts';
import { conclude, print } from './report.ts';
import { readStates, watchMemory } from './processes.ts';
import { USUAL_BOUNDS, judgeCall, judgeProcesses, type Finding } from './verdict.ts';

const AT_ONCE = 4;
const ATTACK_WITHIN_MS = 120_000;
const CALL_AT_LEAST_MS = 5000;

const isLong = !process.argv.includes('--short');
const only = process.argv.includes('--only') ? process.argv.slice(process.argv.indexOf('--only') + 1) : [];

async function attempt(attack: Attack, arena: Arena): Promise<Finding> {
  const began = performance.now();
  const late = new AbortController();
  const tooLong = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`not over after ${ATTACK_WITHIN_MS} ms`)),
      ATTACK_WITHIN_MS,
    );
    late.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  const about = { name: attack.name, rules: attack.rules, began: Date.now() };
  const tookMs = (): number => performance.now() - began;
  try {
    const figures = await Promise.race([attack.run(arena), tooLong]);
    return { ...about, wrong: undefined, figures, tookMs: tookMs() };
  } catch (error) {
    const wrong = error instanceof Error ? error.message : String(error);
    return { ...about, wrong, figures: '', tookMs: tookMs() };
  } finally {
    late.abort();
  }
}

/** Runs attacks concurrently, as real attackers would; those that need to run alone follow one after the other. */
async function runAll(attacks: readonly Attack[], arena: Arena): Promise<Finding[]> {
  const findings: Finding[] = [];
  const run = async (attack: Attack): Promise<void> => {
    const finding = await attempt(attack, arena);
    print(finding);
    findings.push(finding);
  };
  const together = attacks.filter(({ alone }) => alone !== true);
  const queue = together.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const attack of queue) await run(attack);
    }),
  );
  for (const attack of attacks) if (attack.alone === true) await run(attack);
  return findings;
}

const findings = await withArena(isLong, async (arena) => {
  const room = arena.room();
  const before = readStates(arena.stack.endpoints);
  const memory = watchMemory(arena.stack.endpoints);
  const call = await startCall({ edge: arena.edge, room, newcomerEveryMs: 1000 });
  const lasted = delay(CALL_AT_LEAST_MS);
  const wanted = ATTACKS.filter(({ name }) => only.length === 0 || only.includes(name));
  const attacked = await runAll(
    wanted.filter(({ long }) => isLong || long !== true),
    arena,
  );
  const during = (at: number): string =>
    attacked
      .filter(({ began, tookMs }) => began <= at && at <= began + tookMs)
      .map(({ name }) => name)
      .join(' ') || 'none';
  // One short attack would be over before the call has enough frames, lines and new participants to judge it by.
  await lasted;
  const report = await call.stop();
  memory.stop();
  const after = readStates(arena.stack.endpoints);
  const others = [
    ...judgeCall(report, USUAL_BOUNDS, during),
    ...judgeProcesses(before, after, memory.peak, USUAL_BOUNDS),
  ];
  for (const finding of others) print(finding);
  return [...attacked, ...others];
});

conclude(findings);
