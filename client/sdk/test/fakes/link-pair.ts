/** Two links of the mesh for tests, with a channel between them that loses, delays and reorders messages. */
import assert from 'node:assert/strict';
import { PeerLink } from '../../src/mesh/link.ts';
import type { LinkSignal as Signal } from '../../src/mesh/payload.ts';
import { budgetFor } from '../../src/mesh/budget.ts';
import type { Outgoing } from '../../src/mesh/senders.ts';
import { fakeStream, fakeTrack } from './media.ts';
import type { FakePeerConnection } from './peer-connection.ts';
import { fakePorts, type FakePorts } from './ports.ts';
import { seeded } from './random.ts';

/** Two links and a channel that loses, delays and reorders their messages. */
export interface Pair {
  readonly ports: FakePorts;
  readonly starter: PeerLink;
  readonly other: PeerLink;
  readonly sent: Signal[];
  /** The side that detected a broken path, for each time. */
  readonly broken: ('starter' | 'other')[];
  reachable: boolean;
  /** What each side announces: that it sends media. */
  sending: boolean;
  /** An owner muted both. */
  muted: boolean;
  reload(side: 'starter' | 'other'): void;
  close(): void;
}

export interface Weather {
  readonly seed?: number;
  /** Returns whether this signal is lost. */
  readonly lose?: (signal: Signal, index: number, fraction: () => number) => boolean;
  readonly delayMs?: number;
}

export const ordinary = (): Outgoing => ({
  microphone: fakeTrack('audio'),
  camera: fakeTrack('video'),
  screen: null,
  budget: budgetFor(1),
});
export const withScreen = (media: Outgoing): Outgoing => ({
  ...media,
  screen: fakeStream([fakeTrack('video')]),
});

export function pair({ seed = 1, lose = () => false, delayMs = 10 }: Weather = {}): Pair {
  const ports = fakePorts();
  const random = seeded(seed);
  const sent: Signal[] = [];
  const links: Partial<Record<'starter' | 'other', PeerLink>> = {};
  const make = (side: 'starter' | 'other'): PeerLink => {
    const far = side === 'starter' ? 'other' : 'starter';
    return new PeerLink(ordinary(), {
      ports,
      starter: side === 'starter',
      names: { person: fakeStream(), screen: fakeStream() },
      configuration: () => ({}),
      reachable: () => state.reachable,
      isMuted: () => state.muted,
      isSending: () => state.sending,
      onBroken: () => state.broken.push(side),
      onChange: () => undefined,
      onChannel: () => undefined,
      send: (signal) => {
        if (!state.reachable) return;
        const index = sent.push(signal) - 1;
        if (lose(signal, index, () => random.fraction())) return;
        const copy = JSON.parse(JSON.stringify(signal)) as Signal;
        ports.clock.after(1 + random.fraction() * delayMs, () => links[far]?.handle(copy));
      },
    });
  };
  const get = (side: 'starter' | 'other'): PeerLink => {
    const link = links[side];
    assert.ok(link);
    return link;
  };
  const state: Pair = {
    ports,
    sent,
    broken: [],
    reachable: true,
    sending: true,
    muted: false,
    get starter() {
      return get('starter');
    },
    get other() {
      return get('other');
    },
    reload: (side) => {
      get(side).close();
      links[side] = make(side);
      links[side].reloaded();
    },
    close: () => {
      get('starter').close();
      get('other').close();
    },
  };
  links.other = make('other');
  links.starter = make('starter');
  return state;
}

export const connected =
  ({ starter, other }: Pair) =>
  (): boolean =>
    starter.view.status === 'connected' && other.view.status === 'connected';

/** Both sides have negotiated every track, and each has exactly one live connection. */
export function assertWhole(
  { ports, starter, other }: Pair,
  screens: { starter: boolean; other: boolean },
): void {
  const { live } = ports.fabric;
  assert.equal(live.length, 2, 'one connection on each side');
  for (const one of live) {
    assert.equal(one.signalingState, 'stable');
    for (const { mid, agreed, direction } of one.getTransceivers()) {
      assert.ok(mid !== null && agreed === direction, 'every transceiver is negotiated');
    }
    assert.equal(kinds(one, 'sendrecv'), 'audio,video', 'microphone and camera are not doubled');
  }
  for (const link of [starter, other]) assert.equal(link.stream?.getTracks().length, 2);
  assert.equal(other.screen !== null, screens.starter);
  assert.equal(starter.screen !== null, screens.other);
}

export const isOffer = (signal: Signal): boolean => signal.type === 'description' && signal.kind === 'offer';

export const kinds = (one: FakePeerConnection, direction: string): string =>
  one
    .getTransceivers()
    .filter((each) => each.direction === direction)
    .map(({ kind }) => kind)
    .sort()
    .join();
