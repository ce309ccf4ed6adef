import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOf, wayOfRoom, type Pair, type Way } from '../../src/paths/paths.ts';

describe('[MEDIA-12] the path of a room', () => {
  test('the fifth participant moves it to the relays, and it returns when two have left', () => {
    const ways: string[] = [];
    let way: Way = 'mesh';
    for (const people of [1, 2, 3, 4, 5, 6, 5, 4, 5, 4, 3, 4]) {
      way = wayOfRoom(way, people, 4);
      ways.push(`${people} ${way}`);
    }
    assert.deepEqual(ways, [
      '1 mesh',
      '2 mesh',
      '3 mesh',
      '4 mesh',
      '5 sfu',
      '6 sfu',
      '5 sfu',
      '4 sfu',
      '5 sfu',
      '4 sfu',
      '3 mesh',
      '4 mesh',
    ]);
  });
});

describe('[MEDIA-13] a pair', () => {
  const pair: Pair = {
    mine: 'mesh',
    theirs: 'mesh',
    able: true,
    takes: false,
    taken: false,
    flows: true,
    overdue: false,
  };

  test('uses relays when either side prefers them', () => {
    assert.equal(planOf({ ...pair, mine: 'sfu' }).subscribe, true);
    assert.equal(planOf({ ...pair, theirs: 'sfu' }).subscribe, true);
  });

  test('keeps its link until each side receives the other’s media, and shows the link’s media until ours arrives', () => {
    const moving = { ...pair, mine: 'sfu', theirs: 'sfu' } as const;
    assert.deepEqual(planOf(moving), { link: 'keep', subscribe: true, shown: 'mesh' });
    assert.deepEqual(planOf({ ...moving, taken: true }), { link: 'keep', subscribe: true, shown: 'mesh' });
    assert.deepEqual(planOf({ ...moving, takes: true }), { link: 'keep', subscribe: true, shown: 'sfu' });
    assert.deepEqual(planOf({ ...moving, takes: true, taken: true }), {
      link: 'close',
      subscribe: true,
      shown: 'sfu',
    });
  });

  test('keeps the relays until media arrives over the link', () => {
    const back = { ...pair, takes: true, taken: true, flows: false };
    assert.deepEqual(planOf(back), { link: 'open', subscribe: true, shown: 'sfu' });
    assert.deepEqual(planOf({ ...back, flows: true }), { link: 'open', subscribe: false, shown: 'mesh' });
  });

  test('uses a link if one of the two cannot use relays, or if relayed media does not arrive in time', () => {
    assert.equal(planOf({ ...pair, mine: 'sfu', able: false }).link, 'open');
    assert.equal(planOf({ ...pair, mine: 'sfu', flows: false, overdue: true }).link, 'open');
  });
});
