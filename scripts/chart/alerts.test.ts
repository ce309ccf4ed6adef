/** The cases of charts/parley/tests/alerts, which promtool runs against the alerts as the chart renders them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportedNames, isExported, queriedNames } from './metrics.ts';
import { alertRules, CHART, tool } from './tools.ts';

const CASES = `${CHART}/tests/alerts`;
const files = readdirSync(CASES).filter((name) => name.endsWith('.yaml'));
const cases = files.map((name) => readFileSync(join(CASES, name), 'utf8')).join('\n');
/** The case of a full edge has one connection more than five sixths of that. */
const rules = alertRules('--set', 'edge.connections.max=1200');
const alerts = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name = '']) => name);

test('every alert fires after its time with its labels and texts, and none fires in health or in an update', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'parley-alerts-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'alerts.yaml'), rules);
  for (const name of files) copyFileSync(join(CASES, name), join(dir, `cases-${name}`));
  const promtool = tool('promtool', 'PROMETHEUS_OLDEST', 'prometheus');
  const run = spawnSync(promtool, ['test', 'rules', ...files.map((name) => `cases-${name}`)], {
    cwd: dir,
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});

test('every alert has a case in which it fires, and one before its time', () => {
  assert.ok(alerts.length >= 15);
  const named = (pattern: RegExp): Set<string> =>
    new Set([...cases.matchAll(pattern)].map(([, name = '']) => name));
  const firing = named(/alertname: (\w+)\n +exp_alerts:/g);
  const quiet = named(/alertname: (\w+)\n(?! +exp_alerts:)/g);
  assert.deepEqual(firing, new Set(alerts));
  assert.deepEqual(quiet, new Set(alerts));
});

test('the healthy installation has every metric that an alert asks for, and the cases have only metrics that exist', () => {
  const healthy = readFileSync(join(CASES, 'healthy.yaml'), 'utf8');
  const expressions = [...rules.matchAll(/^ +expr: (.*)$/gm)]
    .map(([, expression = '']) => expression)
    .join('\n');
  const withoutLabels = expressions.replaceAll(/\{[^}]*\}|\bby \([^)]*\)/g, '');
  const asked = [...new Set(withoutLabels.match(/\b(?:parley|envoy)_[a-z_]+/g))];
  assert.ok(asked.length >= 20);
  const [first = ''] = healthy.split('- name: a rolling update');
  assert.deepEqual(
    asked.filter((name) => !first.includes(`'${name}{`)),
    [],
  );
  const exported = exportedNames();
  assert.deepEqual(
    queriedNames(cases).filter((name) => !isExported(name, exported)),
    [],
  );
});
