/** How large and how long the bench of regions is. */
import type { Build } from '../programs.ts';
import type { Duration } from './load.ts';
import type { Sizes } from './scenarios.ts';
import { PEOPLE } from './thesis.ts';
import type { TopicLoad } from './topic.ts';

export interface Profile {
  readonly build: Build;
  /** How often a load is run again because the machine was not quiet. */
  readonly repeats: number;
  readonly hasControls: boolean;
  readonly sizes: Sizes;
  readonly media: Duration;
  readonly topic: TopicLoad;
  /** Of the sessions of the thesis. */
  readonly people: readonly number[];
  readonly thesis: Duration;
}

export const PACKAGES: readonly string[] = ['parley-relay', 'parley-load', 'parley-wan'];

export const FULL: Profile = {
  build: 'release',
  repeats: 3,
  hasControls: true,
  sizes: { watchers: 50, watchersOfSix: 16, people: 12 },
  media: { warmSeconds: 4, seconds: 20 },
  topic: { seconds: 15, perSecond: 100, bytes: 1000, readers: 4 },
  people: PEOPLE,
  thesis: { warmSeconds: 3, seconds: 10 },
};

export const SMOKE: Profile = {
  build: 'dev',
  repeats: 0,
  hasControls: false,
  sizes: { watchers: 10, watchersOfSix: 4, people: 6 },
  media: { warmSeconds: 1, seconds: 6 },
  topic: { seconds: 2, perSecond: 50, bytes: 1000, readers: 1 },
  people: [2],
  thesis: { warmSeconds: 1, seconds: 3 },
};
