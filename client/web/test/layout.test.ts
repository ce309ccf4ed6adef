import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gridLayout, stripSide } from '../src/call/layout.ts';

const GAP = 12;
const STAGES = {
  desktop: { width: 1248, height: 640 },
  withChat: { width: 876, height: 640 },
  phone: { width: 370, height: 700 },
  phoneOnItsSide: { width: 800, height: 260 },
};

for (const [name, size] of Object.entries(STAGES))
  test(`1 to 12 tiles fit a ${name} stage, and no tile is too narrow`, () => {
    for (let count = 1; count <= 12; count++) {
      const grid = gridLayout({ count, ...size, gap: GAP });
      const label = `${count} on ${name}: ${JSON.stringify(grid)}`;
      assert.ok(grid.columns * grid.rows >= count, label);
      assert.ok(grid.columns * grid.tileWidth + (grid.columns - 1) * GAP <= size.width, label);
      assert.ok(grid.rows * grid.tileHeight + (grid.rows - 1) * GAP <= size.height, label);
      const aspect = grid.tileWidth / grid.tileHeight;
      assert.ok(aspect > 0.74 && aspect < 1.79, label);
    }
  });

test('a wide stage puts two beside each other, a tall one above each other', () => {
  assert.equal(gridLayout({ count: 2, ...STAGES.desktop, gap: GAP }).columns, 2);
  assert.equal(gridLayout({ count: 2, ...STAGES.phone, gap: GAP }).columns, 1);
});

test('nine on a desktop are three by three, four on a phone two by two', () => {
  assert.deepEqual(pick(gridLayout({ count: 9, ...STAGES.desktop, gap: GAP })), [3, 3]);
  assert.deepEqual(pick(gridLayout({ count: 4, ...STAGES.phone, gap: GAP })), [2, 2]);
});

test('a stage without a size yet yields no tile rather than a negative one', () => {
  assert.deepEqual(gridLayout({ count: 3, width: 0, height: 0, gap: GAP }), {
    columns: 1,
    rows: 3,
    tileWidth: 0,
    tileHeight: 0,
  });
});

test('people go beside a shared screen on a wide stage and below it on a tall one', () => {
  assert.equal(stripSide(1248, 640), 'side');
  assert.equal(stripSide(370, 700), 'below');
});

const pick = ({ columns, rows }: { columns: number; rows: number }) => [columns, rows];
