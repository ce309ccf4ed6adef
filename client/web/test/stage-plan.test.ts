import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Speakers } from '../src/call/speakers.ts';
import { stageOrder, MAX_TILES, maxTiles, planStage, type StageInput } from '../src/call/stage-plan.ts';

const named = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`);
const usual: Omit<StageInput, 'people'> = {
  view: 'grid',
  sharing: false,
  pinned: null,
  speaker: null,
  page: 0,
  max: { grid: 4, beside: 2 },
};

describe('a stage', () => {
  it('shows all participants while they fit, and then in pages', () => {
    const few = planStage({ ...usual, people: named(4) });
    assert.deepEqual(few, { large: null, tiles: named(4), page: 0, pages: 1 });
    const second = planStage({ ...usual, people: named(9), page: 1 });
    assert.deepEqual(second, { large: null, tiles: ['p4', 'p5', 'p6', 'p7'], page: 1, pages: 3 });
  });

  it('shows the last page if people left and there are fewer pages', () => {
    assert.deepEqual(planStage({ ...usual, people: named(5), page: 7 }).tiles, ['p4']);
  });

  it('shows the pinned participant large, with priority over the speaker', () => {
    const speaks = { ...usual, people: named(3), view: 'speaker', speaker: 'p1' } as const;
    assert.deepEqual(planStage(speaks), { large: 'p1', tiles: ['p0', 'p2'], page: 0, pages: 1 });
    assert.equal(planStage({ ...speaks, pinned: 'p2' }).large, 'p2');
    assert.equal(planStage({ ...speaks, view: 'grid', pinned: 'p2' }).large, 'p2');
  });

  it('shows the first participant large if no one has spoken or the pinned one left', () => {
    assert.equal(planStage({ ...usual, people: named(3), view: 'speaker' }).large, 'p0');
    assert.equal(planStage({ ...usual, people: named(3), pinned: 'gone' }).large, null);
    assert.equal(planStage({ ...usual, people: [], view: 'speaker' }).large, null);
  });

  it('shows the only other participant large in every view, unless a screen is shared', () => {
    const alone = { large: 'p0', tiles: [], page: 0, pages: 1 };
    assert.deepEqual(planStage({ ...usual, people: named(1) }), alone);
    assert.deepEqual(planStage({ ...usual, people: named(1), view: 'speaker', pinned: 'gone' }), alone);
    assert.deepEqual(planStage({ ...usual, people: named(1), sharing: true }).tiles, ['p0']);
    assert.equal(planStage({ ...usual, people: named(2) }).large, null);
  });

  it('shows a shared screen large, and the pinned participant or speaker first beside it', () => {
    const shared = planStage({ ...usual, people: named(4), sharing: true, pinned: 'p3' });
    assert.deepEqual(shared, { large: null, tiles: ['p3', 'p0'], page: 0, pages: 2 });
  });

  it('has no more tiles than faces are recognisable on, nor than cameras are fetched', () => {
    assert.equal(maxTiles({ width: 1248, height: 640, gap: 12 }), MAX_TILES);
    const phone = maxTiles({ width: 370, height: 640, gap: 12 });
    assert.ok(phone >= 6 && phone < MAX_TILES, String(phone));
    assert.equal(maxTiles({ width: 0, height: 0, gap: 12 }), 4);
  });
});

describe('the order of a stage', () => {
  const at = (entries: [string, number][]) => new Map(entries);

  it('is the order of joining, also after one left', () => {
    const none = { speaker: null, spokeAt: at([]), perPage: 4 };
    assert.deepEqual(stageOrder(['p0', 'p1', 'p2'], ['p0', 'p2', 'p3'], none), ['p0', 'p2', 'p3']);
  });

  it('swaps a speaker from another page with the participant who was silent for longest', () => {
    const spokeAt = at([
      ['p0', 50],
      ['p1', 10],
      ['p2', 90],
    ]);
    assert.deepEqual(stageOrder(named(5), named(5), { speaker: 'p4', spokeAt, perPage: 3 }), [
      'p0',
      'p4',
      'p2',
      'p3',
      'p1',
    ]);
  });

  it('stays if the speaker is already visible', () => {
    const seen = { speaker: 'p2', spokeAt: at([]), perPage: 3 };
    assert.deepEqual(stageOrder(named(5), named(5), seen), named(5));
  });
});

describe('the floor', () => {
  const person = (participant: string, level: number) => ({ participant, level });

  it('goes to the first speaker, and then to the participant who is the loudest for a while', () => {
    const speakers = new Speakers();
    speakers.update([person('a', 0), person('b', 0.3)], 0);
    assert.equal(speakers.current, 'b');
    speakers.update([person('a', 0.5), person('b', 0.3)], 100);
    assert.equal(speakers.current, 'b', 'a cough does not take it');
    speakers.update([person('a', 0.5), person('b', 0)], 600);
    assert.equal(speakers.current, 'a');
  });

  it('stays with its last holder while no one speaks, and is free when they leave', () => {
    const speakers = new Speakers();
    speakers.update([person('a', 0.5), person('b', 0)], 0);
    speakers.update([person('a', 0), person('b', 0.05)], 9000);
    assert.equal(speakers.current, 'a');
    speakers.update([person('b', 0)], 9100);
    assert.equal(speakers.current, null);
    assert.deepEqual([...speakers.spokeAt], []);
  });
});
