/** Rules of prometheus-adapter, as its documentation of `rules.custom` defines them; what Parley's documentation does not use is refused. */

export interface Rule {
  readonly seriesQuery: string;
  readonly name?: { readonly matches?: string; readonly as?: string };
  readonly resources: {
    readonly overrides: Readonly<Record<string, { readonly resource: string }>>;
  };
  /** A template of Go between `<<` and `>>`. */
  readonly metricsQuery: string;
}

const FIELDS = new Set(['seriesQuery', 'name', 'resources', 'metricsQuery']);

/** Throws at a rule that is not supported here. */
export function decodeRules(rules: readonly Rule[]): readonly Rule[] {
  for (const rule of rules) {
    const unknown = Object.keys(rule).filter((field) => !FIELDS.has(field));
    if (unknown.length > 0) throw new Error(`the lab's adapter does not support ${unknown.join()}`);
    labelOf(rule, 'namespace');
    labelOf(rule, 'pod');
  }
  return rules;
}

/** The metric's name in the API, or undefined for a series that the rule leaves out. */
export function metricNameOf({ name = {} }: Rule, series: string): string | undefined {
  const { matches = '.*' } = name;
  const found = new RegExp(matches).exec(series);
  if (!found) return undefined;
  if (found.length > 2 && name.as === undefined) throw new Error(`${matches} needs \`as\``);
  const as = name.as ?? (found.length === 1 ? '$0' : '$1');
  // The template alone is the name: what no group captured is not part of it (Go's regexp, Expand).
  return as.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
    const key = braced ?? bare ?? '';
    return /^\d+$/.test(key) ? (found[Number(key)] ?? '') : (found.groups?.[key] ?? '');
  });
}

/** What Prometheus is asked for the metric of these pods; at least one. */
export function queryOf(
  rule: Rule,
  { series, namespace, pods }: { series: string; namespace: string; pods: readonly string[] },
): string {
  const pod = labelOf(rule, 'pod');
  const matcher = pods.length > 1 ? '=~' : '=';
  const fields = new Map([
    ['Series', series],
    ['LabelMatchers', `${labelOf(rule, 'namespace')}="${namespace}",${pod}${matcher}"${pods.join('|')}"`],
    ['GroupBy', pod],
  ]);
  return rule.metricsQuery.replaceAll(/<<\s*\.(\w+)\s*>>/g, (_, field: string) => {
    const value = fields.get(field);
    if (value === undefined) throw new Error(`the lab's adapter does not know <<.${field}>>`);
    return value;
  });
}

/** The label of series that names this kind of resource. */
export function labelOf({ resources, seriesQuery }: Rule, resource: 'namespace' | 'pod'): string {
  const [label] =
    Object.entries(resources.overrides).find(([, override]) => override.resource === resource) ?? [];
  if (label === undefined) throw new Error(`the rule of ${seriesQuery} has no label of a ${resource}`);
  return label;
}
