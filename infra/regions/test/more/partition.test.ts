import { test } from 'node:test';
import { lab } from '../support/lab.ts';
import { partition } from '../support/partition.ts';

const regions = lab();

// Longer than the grace period.
test('[REG-2] [REG-3] [REG-4] [REG-5] [DIR-5] FAULT=partition: two regions are cut off from each other for 45 s, and no participant leaves', (t) =>
  partition(t, regions(), { cut: 'eu', from: 'us', lastsMs: 45_000 }));
