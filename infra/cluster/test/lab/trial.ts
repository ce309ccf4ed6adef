/** Runs a fault during a call and a broadcast, and asserts bounds of the interruptions. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';
import { watchStalls } from '@parley/e2e/support/stalls.ts';
import { note } from './report.ts';
import { Scene, type Interruptions } from './scene.ts';

export interface Trial {
  readonly name: string;
  /** In every run, also without FULL=1. */
  readonly always: boolean;
  readonly bounds: Interruptions;
  readonly inject: (scene: Scene) => Promise<void>;
}

export const isFull = process.env['FULL'] === '1';

/** How long the participants are watched after a fault that takes no time itself. */
export const WATCH_MS = 20_000;

/** Without an effect on media: shorter interruptions are those of the machine itself. */
const UNDISTURBED_MS = 1000;
/** A participant whose pod, entry or socket is lost resumes within this time (ROS-11: a dead pod is detected within 5 s). */
const RESUMED_MS = 5000;
/** ICE detects a dead TURN server after about seven seconds, then the call uses another one. */
const TURN_REPLACED_MS = 8000;
/** Media after the end of a relay (MED-43, MEDIA-10). */
const RELAY_REPLACED_MS = 3000;
/** A relay that is silent is detected by a request every two seconds, which may take two seconds (MEDIA-10). */
const SILENT_RELAY_REPLACED_MS = 7000;
/** While pods start on nodes that share the processors of the browsers. */
const ROLLOUT_MS = 3000;

const UNDISTURBED: Interruptions = {
  callMs: UNDISTURBED_MS,
  liveMs: UNDISTURBED_MS,
  signalingMs: UNDISTURBED_MS,
};

/** The promises for a fault of one component while the others run; the component that is named keeps its promise only. */
export const boundsOfFault: Readonly<Record<string, Interruptions>> = {
  nothing: UNDISTURBED,
  signaling: { ...UNDISTURBED, signalingMs: RESUMED_MS },
  turn: { ...UNDISTURBED, callMs: TURN_REPLACED_MS },
  relay: { ...UNDISTURBED, liveMs: RELAY_REPLACED_MS },
  nats: UNDISTURBED,
  edge: { ...UNDISTURBED, signalingMs: RESUMED_MS },
  web: UNDISTURBED,
};

/** Of a node without the TURN server of the call, with any of the other pods. */
export const boundsOfNode: Interruptions = {
  callMs: UNDISTURBED_MS,
  liveMs: SILENT_RELAY_REPLACED_MS,
  signalingMs: RESUMED_MS,
};

export const boundsOfTurnNode: Interruptions = { ...boundsOfNode, callMs: TURN_REPLACED_MS };

/** While every pod is replaced. */
export const boundsOfUpgrade: Interruptions = {
  callMs: TURN_REPLACED_MS,
  liveMs: RELAY_REPLACED_MS,
  signalingMs: RESUMED_MS,
};

/** The bounds of the same fault while pods start on the nodes. */
export function duringRollout({ callMs, liveMs, signalingMs }: Interruptions): Interruptions {
  return {
    callMs: Math.max(callMs, ROLLOUT_MS),
    liveMs: Math.max(liveMs, ROLLOUT_MS),
    signalingMs,
  };
}

export async function assertBounded(
  t: TestContext,
  browser: Browser,
  { name, always, bounds, inject }: Trial,
): Promise<void> {
  const scene = await Scene.open(browser);
  await scene.begin();
  const stalled = watchStalls();
  await inject(scene);
  const noticed = await scene.noticed();
  const stalledMs = stalled();
  note({ name, always, ...noticed });
  t.diagnostic(JSON.stringify({ ...noticed, stalledMs }));
  assert.deepEqual(noticed.lost, []);
  for (const key of ['callMs', 'liveMs', 'signalingMs'] as const) {
    const maxMs = bounds[key] + stalledMs;
    assert.ok(noticed[key] <= maxMs, `${key}: ${noticed[key]} ms, at most ${maxMs} are allowed`);
  }
}
