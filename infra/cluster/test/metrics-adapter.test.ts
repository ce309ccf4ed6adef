import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeRules, metricNameOf, queryOf, type Rule } from '../src/metrics-adapter/rules.ts';

const RULE: Rule = {
  seriesQuery: 'arrivals_total{pod!=""}',
  resources: { overrides: { ns: { resource: 'namespace' }, pod: { resource: 'pod' } } },
  metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)',
};

describe('rules of prometheus-adapter', () => {
  const names = [
    { title: 'no `name`: the name of the series', expected: 'arrivals_total' },
    { title: 'a group: the group', name: { matches: '^(.*)_total$' }, expected: 'arrivals' },
    {
      title: '`as`: that, with the group',
      name: { matches: '^(.*)_total$', as: '${1}_per_second' },
      expected: 'arrivals_per_second',
    },
    {
      title: '`as` without a group: that alone, as it replaces the whole name',
      name: { matches: '_total$', as: '_per_second' },
      expected: '_per_second',
    },
    { title: 'a name that does not match: no metric', name: { matches: '_seconds$' }, expected: undefined },
  ];
  for (const { title, name, expected } of names) {
    it(title, () => {
      const rule = name === undefined ? RULE : { ...RULE, name };
      assert.equal(metricNameOf(rule, 'arrivals_total'), expected);
    });
  }

  it('a query names the pods that are asked for, and no others', () => {
    const asked = { series: 'arrivals_total', namespace: 'parley' };
    assert.equal(
      queryOf(RULE, { ...asked, pods: ['a', 'b'] }),
      'sum(rate(arrivals_total{ns="parley",pod=~"a|b"}[1m])) by (pod)',
    );
    assert.equal(
      queryOf(RULE, { ...asked, pods: ['a'] }),
      'sum(rate(arrivals_total{ns="parley",pod="a"}[1m])) by (pod)',
    );
  });

  it('what is not supported is refused', () => {
    assert.throws(() => decodeRules([{ ...RULE, seriesFilters: [] } as Rule]), /seriesFilters/);
    assert.throws(() => decodeRules([{ ...RULE, resources: { overrides: {} } }]), /namespace/);
    const metricsQuery = '<<.LabelValuesByName>>';
    assert.throws(
      () => queryOf({ ...RULE, metricsQuery }, { series: '', namespace: '', pods: [] }),
      /LabelValues/,
    );
  });
});
