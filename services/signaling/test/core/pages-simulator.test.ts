/**
 * Histories of one page from a seed: visitors come, read, announce and leave, pods die or restart, messages are lost, and links break. No visitor is told
 * that the page is gone while another holds it or is moving with it from a pod that died; and in quiet periods all counts are exact.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageWorld, type Tab } from '../support/page-world.ts';

const PAGE = 'c0ffee00'.repeat(8);
const SEEDS = 150;
const STEPS = 80;
/** Every live pod knows it by then, also where a message is lost. */
const PROPAGATION_MS = 2000;
/** Visitors of a pod that died are back within this; `page.settleTime` is longer. */
const BACK_MS = 8000;
/** By then a lost pod is considered dead, and its pages are settled. */
const QUIET_MS = 20_000;

interface Story {
  readonly title: string;
  readonly loses: number;
  readonly breaksLinks: boolean;
}

interface Part {
  has: 'whole' | 'part' | 'nothing';
  since: number;
}

for (const story of [
  { title: 'pods die', loses: 0, breaksLinks: false },
  { title: 'pods die and messages are lost', loses: 0.05, breaksLinks: false },
  { title: 'pods die and links break', loses: 0, breaksLinks: true },
  { title: 'all of these', loses: 0.05, breaksLinks: true },
]) {
  test(`[PAGE-8] [PAGE-10] [PAGE-12] [PAGE-13] counts become exact and never show a page as gone that is not: ${story.title}`, () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) new History(story, seed).play();
  });
}

class History {
  readonly #world: PageWorld;
  readonly #story: Story;
  readonly #seed: number;
  readonly #parts = new Map<Tab, Part>();
  /** When the disconnected pod lost its link. */
  #cutAt = 0;
  #onTheWay: (Part & { readonly at: number })[] = [];

  constructor(story: Story, seed: number) {
    this.#story = story;
    this.#seed = seed;
    this.#world = new PageWorld({ pods: ['a', 'b', 'c'], seed });
    this.#world.loses = story.loses;
    this.#world.onMessage = (tab, message) => {
      if (message.type === 'count' && message.settled && message.holders === 0) this.#isGone(tab);
    };
  }

  play(): void {
    const world = this.#world;
    for (let step = 0; step < STEPS; step += 1) {
      this.#happens();
      this.#advance(world.random.between(0, 1500));
    }
    world.loses = 0;
    for (const pod of world.pods.keys()) if (world.isUnplugged(pod)) this.#plug(pod);
    this.#advance(QUIET_MS);
    this.#assertTruth();
  }

  #happens(): void {
    const world = this.#world;
    const pods = [...world.pods.keys()];
    const tab = world.random.pick([...this.#parts.keys()]);
    const dice = world.random.next();
    if (dice < 0.35 || tab === undefined) this.#arrive({ has: 'nothing', since: world.now });
    else if (dice < 0.5) this.#holds(tab);
    else if (dice < 0.88) {
      this.#parts.delete(tab);
      world.leave(tab);
    } else if (dice < 0.94) {
      if (pods.length > 1) this.#kill(tab.pod);
    } else if (this.#story.breaksLinks) {
      const unplugged = pods.find((pod) => world.isUnplugged(pod));
      if (unplugged === undefined) {
        this.#cutAt = world.now;
        world.unplug(tab.pod);
      } else this.#plug(unplugged);
    }
  }

  /** The other pods know its state some time after this. */
  #plug(pod: string): void {
    const world = this.#world;
    world.plug(pod);
    for (const [tab, part] of this.#parts) if (tab.pod === pod) part.since = world.now;
  }

  #arrive(part: Part): void {
    const world = this.#world;
    const pods = [...world.pods.keys()];
    const pod = world.random.pick(pods.filter((name) => !world.isUnplugged(name))) ?? pods[0];
    if (pod === undefined) return;
    const tab = world.arrive(pod);
    this.#parts.set(tab, { ...part, since: world.now });
    if (part.has === 'nothing') world.subscribe(tab, PAGE);
    else world.announce(tab, PAGE, { whole: part.has === 'whole' });
  }

  #holds(tab: Tab): void {
    const part = this.#parts.get(tab);
    if (part?.has === 'whole') return;
    const has = part?.has === 'part' || this.#world.random.chance(0.5) ? 'whole' : 'part';
    this.#parts.set(tab, { has, since: this.#world.now });
    this.#world.announce(tab, PAGE, { whole: has === 'whole' });
  }

  #kill(pod: string): void {
    const world = this.#world;
    const { now, random } = world;
    const wasReceived = [...world.pods.keys()].every((name) => !world.isUnplugged(name));
    for (const lost of world.kill(pod)) {
      const part = this.#parts.get(lost);
      this.#parts.delete(lost);
      if (part === undefined) continue;
      // A visitor that held it only for a moment, or without another pod knowing, is missed by none.
      const since = wasReceived ? part.since : now;
      this.#onTheWay.push({ has: part.has, since: since - now, at: now + random.between(100, BACK_MS) });
    }
    if (random.chance(0.7)) world.start(pod);
  }

  #advance(ms: number): void {
    const until = this.#world.now + ms;
    while (this.#world.now < until) {
      this.#world.advance(Math.min(50, until - this.#world.now));
      const back = this.#onTheWay.filter(({ at }) => at <= this.#world.now);
      this.#onTheWay = this.#onTheWay.filter(({ at }) => at > this.#world.now);
      for (const part of back) this.#arrive(part);
    }
  }

  #isGone(tab: Tab): void {
    const { now } = this.#world;
    // Visitors that come to another pod after the link was lost cannot be known.
    const seenAt = this.#world.isUnplugged(tab.pod) ? this.#cutAt : now;
    const holds = [...this.#parts].some(
      ([{ pod }, { has, since }]) =>
        has === 'whole' && seenAt - since > PROPAGATION_MS && !this.#world.isUnplugged(pod),
    );
    const comes = this.#onTheWay.some(({ has, since }) => has === 'whole' && -since > PROPAGATION_MS);
    assert.ok(!holds && !comes, `seed ${this.#seed}: at ${now} it is gone on ${tab.pod}`);
  }

  #assertTruth(): void {
    const parts = [...this.#parts.values()];
    const holders = parts.filter(({ has }) => has === 'whole').length;
    const truth = { holders, readers: parts.length - holders, settled: true, visitors: parts.length };
    for (const tab of this.#parts.keys()) {
      const { holders, readers, settled } = tab.count(PAGE) ?? {};
      const shown = { holders, readers, settled, visitors: tab.visitors };
      assert.deepEqual(shown, truth, `seed ${this.#seed}: ${tab.id} on ${tab.pod}`);
    }
  }
}
