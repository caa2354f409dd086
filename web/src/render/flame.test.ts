import {describe, expect, it} from 'vitest';
import {flameBoxes, zoomedBoxes} from './flame';

describe('a flame graph', () => {
  const depths = [0, 1, 2, 1, 0, 1];
  const values = [60, 40, 40, 10, 40, 40];
  it('children stand on their parents, in order', () => {
    const boxes = flameBoxes(depths, values);
    expect(boxes.map((box) => [box.row, box.left, box.width])).toEqual([
      [0, 0, 0.6],
      [1, 0, 0.4],
      [2, 0, 0.4],
      [3, 0.4, 0.1],
      [4, 0.6, 0.4],
      [5, 0.6, 0.4],
    ]);
  });
  it('children that exceed their parent are cut at its end', () => {
    const boxes = flameBoxes([0, 1, 1], [10, 8, 8]);
    expect(boxes[2]!.width).toBeCloseTo(0.2);
  });
  it('what takes no time has no box, nor has what is in it', () => {
    expect(flameBoxes([0, 1, 2, 0], [0, 0, 0, 5]).map((box) => box.row)).toEqual([3]);
    expect(flameBoxes([0], [0])).toEqual([]);
  });
  it('zooming shows a box with its parents and children only', () => {
    const boxes = flameBoxes(depths, values);
    const zoomed = zoomedBoxes(boxes, boxes[1]!);
    expect(zoomed.map((box) => [box.row, box.left, box.width])).toEqual([
      [0, 0, 1],
      [1, 0, 1],
      [2, 0, 1],
    ]);
  });
});
