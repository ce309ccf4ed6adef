import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOf, pathOfRoom, type Pair, type MediaPath } from '../../src/paths/paths.ts';

describe('[MEDIA-12] the path of a room', () => {
  test('the fifth participant moves it to the relays, and it returns when two have left', () => {
    const paths: string[] = [];
    let path: MediaPath = 'mesh';
    for (const people of [1, 2, 3, 4, 5, 6, 5, 4, 5, 4, 3, 4]) {
      path = pathOfRoom(path, people, 4);
      paths.push(`${people} ${path}`);
    }
    assert.deepEqual(paths, [
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
    receiving: false,
    peerReceiving: false,
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
    assert.deepEqual(planOf({ ...moving, peerReceiving: true }), {
      link: 'keep',
      subscribe: true,
      shown: 'mesh',
    });
    assert.deepEqual(planOf({ ...moving, receiving: true }), { link: 'keep', subscribe: true, shown: 'sfu' });
    assert.deepEqual(planOf({ ...moving, receiving: true, peerReceiving: true }), {
      link: 'close',
      subscribe: true,
      shown: 'sfu',
    });
  });

  test('keeps the relays until media arrives over the link', () => {
    const back = { ...pair, receiving: true, peerReceiving: true, flows: false };
    assert.deepEqual(planOf(back), { link: 'open', subscribe: true, shown: 'sfu' });
    assert.deepEqual(planOf({ ...back, flows: true }), { link: 'open', subscribe: false, shown: 'mesh' });
  });

  test('uses a link if one of the two cannot use relays, or if relayed media does not arrive in time', () => {
    assert.equal(planOf({ ...pair, mine: 'sfu', able: false }).link, 'open');
    assert.equal(planOf({ ...pair, mine: 'sfu', flows: false, overdue: true }).link, 'open');
  });
});
