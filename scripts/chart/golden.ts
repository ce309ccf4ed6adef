/** Renders of the examples as they were last looked at; with --check it only says which differ. */
import { readFileSync, writeFileSync } from 'node:fs';
import { CHART, render } from './tools.ts';

const EXAMPLES = ['development', 'production'];

export function goldenPath(example: string): string {
  return `${CHART}/tests/golden/${example}.yaml`;
}

/** Without values that are generated at each render, and without dashboards, which are files of their own. */
export function goldenOf(example: string): string {
  return render('-f', `${CHART}/examples/${example}.yaml`)
    .split(/^---\n/m)
    .filter((object) => !object.includes('-dashboard-'))
    .map((object) =>
      object.includes('\nkind: Secret\n')
        ? object.replaceAll(/^( {2}[\w.-]+): \S{40,}$/gm, '$1: (generated)')
        : object,
    )
    .join('---\n');
}

export function staleGoldens(): string[] {
  return EXAMPLES.filter((example) => goldenOf(example) !== readFileSync(goldenPath(example), 'utf8'));
}

if (import.meta.main) {
  for (const example of EXAMPLES) writeFileSync(goldenPath(example), goldenOf(example));
}
