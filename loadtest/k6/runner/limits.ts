/** Limits of the herd's own stack that are raised; every other limit is as in production. */
import { limitKey } from '@parley/protocol/limits';
import { EDGE_LIMITS } from '../../src/limits.ts';

/** The whole herd has one address. */
export const HERD_LIMITS: Readonly<Record<string, string>> = {
  [limitKey('address.joins')]: '1000000',
  [limitKey('address.sockets')]: '100000',
  [limitKey('address.resumes')]: '10000000',
  [limitKey('address.reads')]: '10000000',
  [limitKey('address.bufferedBytes')]: '1099511627776',
  [limitKey('address.reassemblyBytes')]: '1099511627776',
  ...EDGE_LIMITS,
};

/** With two pods, the one that is left has to hold all ten thousand. */
export const STORM_LIMITS: Readonly<Record<string, string>> = {
  ...HERD_LIMITS,
  [limitKey('pod.sockets')]: '12000',
};
