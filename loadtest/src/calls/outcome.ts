/** What two people notice of each other. */
import type { Slate } from '@parley/e2e/support/slate.ts';
import { digits } from '../columns.ts';
import { percentileOf } from '../statistics.ts';

/** Of all pictures, or sounds, ms. */
export interface Delay {
  readonly count: number;
  readonly p5: number;
  readonly p50: number;
  readonly p95: number;
}

export interface Outcome {
  readonly way: string;
  readonly pictures: Delay;
  readonly sounds: Delay;
  /** By how much sounds came after their pictures. */
  readonly apart: Delay;
  readonly freezes: { readonly count: number; readonly longestMs: number };
}

export function outcomeOf(way: string, slates: readonly Slate[]): Outcome {
  const all = (of: (slate: Slate) => readonly number[]): number[] => slates.flatMap((slate) => of(slate));
  const freezes = all(({ freezesMs }) => freezesMs);
  return {
    way,
    pictures: delayOf(all(({ pictureMs }) => pictureMs)),
    sounds: delayOf(all(({ soundMs }) => soundMs)),
    apart: delayOf(all(({ apartMs }) => apartMs)),
    freezes: { count: freezes.length, longestMs: Math.max(0, ...freezes) },
  };
}

function delayOf(values: readonly number[]): Delay {
  const at = (share: number): number => percentileOf(values, share);
  return { count: values.length, p5: at(0.05), p50: at(0.5), p95: at(0.95) };
}

/** The table of the documentation. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const both = ({ p50, p95 }: Delay): string => `${digits(p50)}, ${digits(p95)}`;
  const lines = outcomes.map(
    ({ way, pictures, sounds, apart, freezes }) =>
      `| ${way} | ${both(pictures)} | ${both(sounds)} | ${digits(apart.p50)} | ${freezes.count === 0 ? 'none' : `${freezes.count}, longest ${(freezes.longestMs / 1000).toFixed(1)} s`} |`,
  );
  return [
    '| path | pictures p50, p95 ms | sounds p50, p95 ms | sound after picture, ms | pictures that stood still |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}
