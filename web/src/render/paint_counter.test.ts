import {describe, expect, it} from 'vitest';
import type {CounterTile} from '../api/tile';
import {counterColumns} from './paint_counter';

const tile: CounterTile = {
  form: 'counter',
  track: 0,
  level: 0,
  start: 0,
  nsPerColumn: 1,
  before: 5,
  column: Uint16Array.of(10, 11, 40),
  min: Float64Array.of(1, 8, 2),
  max: Float64Array.of(9, 8, 2),
  last: Float64Array.of(3, 8, 2),
  bytes: 0,
};

describe('a counter', () => {
  it('holds its value, and shows what it reached within a pixel', () => {
    const columns = counterColumns(tile, {from: 0, to: 100}, 10, 0, 100)!;
    expect([...columns.last]).toEqual([5, 8, 8, 8, 2, 2, 2, 2, 2, 2]);
    expect([columns.low[1], columns.high[1]]).toEqual([1, 9]);
    expect([columns.low[2], columns.high[2]]).toEqual([8, 8]);
  });
  it('has nothing before its first sample', () => {
    const columns = counterColumns({...tile, before: Number.NaN}, {from: 0, to: 100}, 10, 0, 100)!;
    expect(columns.last[0]).toBeNaN();
    expect(columns.high[0]! < columns.low[0]!).toBe(true);
  });
  it('begins with the value that it had on the left of the view', () => {
    const columns = counterColumns(tile, {from: 50, to: 100}, 5, 0, 100)!;
    expect([...columns.last]).toEqual([2, 2, 2, 2, 2]);
  });
});
