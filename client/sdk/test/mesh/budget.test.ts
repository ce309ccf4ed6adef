import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { budgetFor } from '../../src/mesh/budget.ts';

describe('the bit rates of a mesh', () => {
  it('for one person the picture keeps its size', () => {
    assert.equal(budgetFor(1).camera.scaleResolutionDownBy, 1);
  });

  it('all copies together need at most the upload of two and a half full pictures', () => {
    const full = budgetFor(1).camera.maxBitrate;
    for (let others = 1; others <= 11; others += 1) {
      assert.ok(others * budgetFor(others).camera.maxBitrate <= 2.5 * full, `${others} others`);
    }
  });

  it('a picture never grows when people join', () => {
    for (let others = 1; others <= 11; others += 1) {
      const [now, then] = [budgetFor(others), budgetFor(others + 1)];
      assert.ok(then.camera.maxBitrate <= now.camera.maxBitrate);
      assert.ok(then.camera.scaleResolutionDownBy >= now.camera.scaleResolutionDownBy);
      assert.ok(then.screen.maxFramerate <= now.screen.maxFramerate);
    }
  });
});
