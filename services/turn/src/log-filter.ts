/** Reads coturn's log from stdin and writes the lines within the budget. For `make up`, which runs coturn without the agent. */
import { LogBudget } from './log-budget.ts';

const budget = new LogBudget({
  write: (line) => process.stdout.write(`${line}\n`),
  report: (lines) => process.stdout.write(`suppressed ${lines} lines\n`),
});
process.stdin.on('data', (chunk: Buffer) => budget.push(chunk));
process.stdin.on('end', () => budget.end());
