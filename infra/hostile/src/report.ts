/** Lines for people, and the exit code. */
import type { Finding } from './verdict.ts';

export function print({ name, rules, wrong, figures, tookMs }: Finding): void {
  const result = wrong === undefined ? 'passed' : 'FAILED';
  const about = `${name.padEnd(36)} ${rules.join(' ').padEnd(24)}`;
  console.log(`${result} ${about} ${(tookMs / 1000).toFixed(1).padStart(5)} s  ${wrong ?? figures}`);
}

/** Prints the last line and ends the process, with 1 after a failure. */
export function conclude(findings: readonly Finding[]): never {
  const failed = findings.filter(({ wrong }) => wrong !== undefined).length;
  console.log(`${findings.length - failed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}
