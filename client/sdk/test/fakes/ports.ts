/** Ports for tests: a fake clock, seeded random numbers, connections of a fabric, and the sockets and requests of the test. */
import type { Ports } from '../../src/ports.ts';
import { fakeClock, type FakeClock } from './clock.ts';
import { fakeStream } from './media.ts';
import { Fabric } from './peer-connection.ts';
import { seeded } from './random.ts';

export interface FakePorts extends Ports {
  readonly clock: FakeClock;
  readonly fabric: Fabric;
}

export function fakePorts(change: Partial<Ports> = {}, seed = 1): FakePorts {
  const clock = fakeClock();
  const fabric = new Fabric(clock);
  return {
    fetch: async () => Promise.reject(new TypeError('no network')),
    openSocket: () => {
      throw new Error('no sockets here');
    },
    createConnection: (configuration) => fabric.create(configuration),
    createStream: () => fakeStream(),
    random: seeded(seed),
    network: { online: () => true, subscribe: () => () => undefined },
    subtle: crypto.subtle,
    compression: null,
    measureLevel: null,
    relayedMedia: null,
    ...change,
    clock,
    fabric,
  };
}
