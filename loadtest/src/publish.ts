/** Writes the figures where the documentation shows them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Machine } from './machine.ts';
import { plot } from './plot.ts';
import type { RowSummary, Run } from './summary.ts';

const DIRECTORY = fileURLToPath(new URL('../../docs/evaluation/', import.meta.url));

export function publish(
  machine: Machine,
  limits: Readonly<Record<string, string>>,
  rows: readonly RowSummary[],
  runs: readonly Run[],
): void {
  mkdirSync(DIRECTORY, { recursive: true });
  const json = `${DIRECTORY}bench-signaling.json`;
  const svg = `${DIRECTORY}bench-signaling.svg`;
  const at = new Date().toISOString();
  writeFileSync(json, `${JSON.stringify({ at, machine, limits, rows, runs }, null, 2)}\n`);
  writeFileSync(svg, plot(machine, rows));
  console.log(`written: ${json}\nwritten: ${svg}`);
}
