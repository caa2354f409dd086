import {describe, expect, it} from 'vitest';
import type {CounterTile, SliceTile} from '../api/tile';
import {hitSlices, valueAt} from './hit';

const tile: SliceTile = {
  form: 'slices',
  track: 0,
  level: 3,
  start: 8192,
  nsPerColumn: 8,
  depth: 2,
  bytes: 0,
  names: ['outer', 'inner', 'tiny'],
  slices: {
    start: Float64Array.of(8200, 8300),
    duration: Float64Array.of(1000, 100),
    name: Uint32Array.of(0, 1),
    ordinal: Uint32Array.of(10, 11),
    window: Uint16Array.of(0, 0),
    depth: Uint16Array.of(0, 1),
    kind: Uint8Array.of(1, 2),
    flags: Uint8Array.of(0, 0),
  },
  cells: {
    count: Uint32Array.of(7),
    name: Uint32Array.of(2),
    ordinal: Uint32Array.of(0xffffffff),
    column: Uint16Array.of(50),
    depth: Uint16Array.of(1),
    window: Uint16Array.of(0),
    kind: Uint8Array.of(3),
    covered: Uint8Array.of(200),
  },
  gaps: {start: Float64Array.of(9300), duration: Float64Array.of(50), cause: Uint8Array.of(2)},
};

describe('what is under the pointer', () => {
  it('is the slice of that row', () => {
    expect(hitSlices(tile, 8350, 0, 4)?.name).toBe('outer');
    expect(hitSlices(tile, 8350, 1, 4)?.name).toBe('inner');
  });
  it('is near enough when it is thin', () => {
    expect(hitSlices(tile, 8297, 1, 4)?.name).toBe('inner');
    expect(hitSlices(tile, 8290, 1, 4)).toBeNull();
  });
  it('is a cell with its count, of no single event', () => {
    const hit = hitSlices(tile, 8192 + 50 * 8 + 3, 1, 4);
    expect([hit?.form, hit?.name, hit?.count, hit?.ordinal]).toEqual(['cell', 'tiny', 7, null]);
  });
  it('is a gap where nothing else is', () => {
    expect(hitSlices(tile, 9320, 0, 4)?.form).toBe('gap');
    expect(hitSlices(tile, 9400, 0, 4)).toBeNull();
  });
  it('is all the short gaps of a column, unless a long one is there', () => {
    const gaps = {
      start: Float64Array.of(9192, 9195, 9600),
      duration: Float64Array.of(6, 20, 3),
      cause: Uint8Array.of(1, 2, 4),
    };
    const far = {...tile, slices: {...tile.slices, depth: Uint16Array.of(9, 9)}, gaps};
    expect(hitSlices(far, 9197, 0, 4)).toMatchObject({kind: 2, duration: 20});
    expect(hitSlices(far, 9193, 0, 4)).toMatchObject({kind: 1, duration: 6, within: 8});
    expect(hitSlices(far, 9607, 0, 4)).toMatchObject({kind: 4, duration: 3, within: 8});
  });
  it('a counter keeps its value until the next', () => {
    const line: CounterTile = {
      form: 'counter',
      track: 0,
      level: 0,
      start: 0,
      nsPerColumn: 10,
      before: Number.NaN,
      min: Float64Array.of(1, 5),
      max: Float64Array.of(3, 9),
      last: Float64Array.of(2, 6),
      column: Uint16Array.of(1, 4),
      bytes: 0,
    };
    expect([5, 10, 39, 40, 999].map((ns) => valueAt(line, ns))).toEqual([null, 2, 2, 6, 6]);
  });
});
