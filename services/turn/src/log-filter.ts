/** Reads coturn's log from its input and writes what is within the budget: for `make up`, which runs coturn without the agent. */
import { LogBudget } from './log-budget.ts';

const budget = new LogBudget({
  write: (line) => process.stdout.write(`${line}\n`),
  report: (lines) => process.stdout.write(`suppressed ${lines} lines\n`),
});
process.stdin.on('data', (chunk: Buffer) => budget.push(chunk));
process.stdin.on('end', () => budget.end());
