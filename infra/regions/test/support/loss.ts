/** Ways to lose a region, and its return. */
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { podNumbers } from '../../src/pods.ts';
import type { Regions } from '../../src/regions.ts';
import { relayNumbers } from '../../src/relays.ts';
import { linked } from './lab.ts';

const READY_WITHIN_MS = 20_000;

/** Ends the region eu, and answers how to bring it back. */
export type End = (lab: Regions) => () => Promise<void>;

const kill: End = (lab) => {
  for (const number of podNumbers) lab.kill(`eu-signaling-${number}`, 'SIGKILL');
  return killRelays(lab);
};

/** Its pods live. */
export const killRelays: End = (lab) => {
  for (const number of relayNumbers) lab.kill(`eu-relay-${number}`, 'SIGKILL');
  return () => lab.repair();
};

const blackHole: End = (lab) => {
  lab.unplug('eu');
  lab.cut('eu');
  return async () => {
    lab.plug('eu');
    lab.heal();
  };
};

export const ends: readonly (readonly [how: string, end: End])[] = [
  ['all its pods are killed', kill],
  ['nothing gets to it or from it any more', blackHole],
];

/** Whatever a test left. */
export async function restore(lab: Regions): Promise<void> {
  lab.plug('eu');
  lab.heal();
  await lab.repair();
}

/** Resolves when the regions are connected, and the pods of eu serve clients. */
export async function isBack(lab: Regions): Promise<void> {
  await linked(lab);
  await eventually('the region is back', () => areReady(lab), READY_WITHIN_MS);
}

async function areReady(lab: Regions): Promise<boolean> {
  const answers = podNumbers.map((number) =>
    fetch(`${lab.pod('eu', number)}/readyz`, { signal: AbortSignal.timeout(1000) }),
  );
  return Promise.all(answers).then(
    (all) => all.every(({ ok }) => ok),
    () => false,
  );
}
