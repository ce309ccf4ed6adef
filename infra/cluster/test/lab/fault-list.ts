/** The faults that are injected during a call and a broadcast. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { powerOff } from '../../src/cluster.ts';
import { busiestEntry, busiestPod, deletePod, killPod, nodeOf, rollOut } from '../../src/faults.ts';
import type { Node } from '../../src/lab.ts';
import { setCable } from '../../src/network.ts';
import { podsOf, type Pod } from '../../src/release.ts';
import { lab } from './entry.ts';
import type { Interruptions, Scene } from './scene.ts';
import {
  boundsOfFault,
  boundsOfNode,
  boundsOfTurnNode,
  duringRollout,
  WATCH_MS,
  type Trial,
} from './trial.ts';

/** Longer than a participant without a socket may take to resume (SPEC rule RES-1), and than Kubernetes needs to detect the fault. */
const PARTITION_MS = 45_000;

/** The pod of each component that the participants of a scene depend on, and its name in a title. */
const used: Readonly<
  Record<string, { readonly name: string; readonly of: (scene: Scene) => Promise<Pod | undefined> }>
> = {
  signaling: {
    name: 'the signaling pod of a call',
    async of({ callers }) {
      const name = await callers[0]?.pod();
      return (await podsOf(lab, 'signaling')).find(({ metadata }) => metadata.name === name);
    },
  },
  turn: {
    name: 'the TURN server of a call',
    async of(scene) {
      const address = await scene.turnInUse();
      return (await podsOf(lab, 'turn')).find(({ status }) => status.podIP === address);
    },
  },
  relay: {
    name: 'the relay of a broadcast',
    of() {
      const metric = /^parley_media_sessions\{[^}]*kind="client"[^}]*\} (\d+)$/gm;
      return busiestPod(lab, 'relay', { port: 8113, metric });
    },
  },
  nats: { name: 'a NATS server', of: async () => (await podsOf(lab, 'nats'))[0] },
  edge: {
    name: 'the Envoy that most came by',
    async of() {
      const node = await busiestEntry();
      return (await podsOf(lab, 'edge')).find((pod) => nodeOf(pod) === node);
    },
  },
  web: { name: 'a pod of the application', of: async () => (await podsOf(lab, 'web'))[0] },
};

const rollouts = Object.keys(used).map((component): Trial => ({
  name: `rollout of ${component}`,
  always: component === 'signaling',
  bounds: duringRollout(boundsOf(component)),
  async inject() {
    await rollOut(lab, component);
    // The last old pod may still move its participants.
    await pause(WATCH_MS);
  },
}));

const powerCut = (name: string, bounds: Interruptions, find: (scene: Scene) => Promise<Node>): Trial => ({
  name: `power cut of ${name}`,
  always: true,
  bounds,
  async inject(scene) {
    const node = await find(scene);
    setCable(node, 'down');
    await powerOff(lab, node);
    // Longer than Kubernetes needs to detect it.
    await pause(3 * WATCH_MS);
  },
});

const nodeOfTurn = async (scene: Scene): Promise<Node> => {
  const pod = await used['turn']?.of(scene);
  assert.ok(pod, 'the call uses no TURN server');
  return nodeOf(pod);
};

/** Without the node of the TURN server, which has a trial of its own. */
const busiestOther = async (scene: Scene): Promise<Node> => busiestEntry(await nodeOfTurn(scene));

const partition: Trial = {
  name: `partition of the node that most came by, for ${PARTITION_MS / 1000} s`,
  always: false,
  bounds: boundsOfTurnNode,
  async inject() {
    const node = await busiestEntry();
    setCable(node, 'down');
    await pause(PARTITION_MS);
    setCable(node, 'up');
    await pause(WATCH_MS);
  },
};

export const faults: readonly Trial[] = [
  { name: 'nothing', always: true, bounds: boundsOf('nothing'), inject: () => pause(WATCH_MS) },
  ...['signaling', 'turn', 'relay', 'nats'].map((component) => toPod(component, '`kill -9` of', killPod)),
  ...rollouts,
  powerCut('the node that most came by, not of the TURN server of the call', boundsOfNode, busiestOther),
  powerCut('the node of the TURN server of a call', boundsOfTurnNode, nodeOfTurn),
  ...Object.keys(used).map((component) => toPod(component, 'deletion of', deletePod)),
  partition,
];

function boundsOf(component: string): Interruptions {
  const bounds = boundsOfFault[component];
  assert.ok(bounds, `no bounds of ${component}`);
  return bounds;
}

function toPod(component: string, what: string, fail: (of: typeof lab, pod: Pod) => Promise<void>): Trial {
  const { name = '', of } = used[component] ?? {};
  return {
    name: `${what} ${name}`,
    always: fail === killPod,
    bounds: fail === killPod ? boundsOf(component) : duringRollout(boundsOf(component)),
    async inject(scene) {
      const pod = await of?.(scene);
      assert.ok(pod, `there is no pod of ${component} in use`);
      await fail(lab, pod);
      await pause(WATCH_MS);
    },
  };
}
