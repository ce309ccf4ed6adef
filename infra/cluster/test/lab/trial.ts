/** Lets something happen to the people of a scene, and judges what they noticed. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { note } from './report.ts';
import { Scene } from './scene.ts';

export interface Trial {
  readonly name: string;
  /** Tried in every run, also without FULL=1. */
  readonly always: boolean;
  readonly happens: (scene: Scene) => Promise<void>;
}

export const isFull = process.env['FULL'] === '1';

/** For how long people are watched after what happened, unless it takes its own time. */
export const watchedMs = 20_000;
/** The longest wait of a participant is the time within which one without a socket can resume (SPEC rule RES-1). */
const bearableMs = 30_000;

export async function assertNoLoss(
  t: TestContext,
  browser: Browser,
  { name, always, happens }: Trial,
): Promise<void> {
  const scene = await Scene.open(browser);
  await scene.begin();
  await happens(scene);
  const noticed = await scene.noticed();
  note({ name, always, ...noticed });
  t.diagnostic(JSON.stringify(noticed));
  assert.deepEqual(noticed.lost, []);
  const longestMs = Math.max(noticed.callMs, noticed.liveMs, noticed.signalingMs);
  assert.ok(longestMs < bearableMs, JSON.stringify(noticed));
}
