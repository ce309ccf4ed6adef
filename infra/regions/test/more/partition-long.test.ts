import { test } from 'node:test';
import { lab } from '../support/lab.ts';
import { partition } from '../support/partition.ts';

const regions = lab();

// Longer than a dead pod is remembered, and a minute less than `unreachable.keep`.
test('[REG-2] [REG-3] [REG-4] [REG-5] [DIR-5] FAULT=partition-long: a region is cut off from all others for 4 minutes, and no participant leaves', (t) =>
  partition(t, regions(), { cut: 'ap', lastsMs: 240_000 }));
