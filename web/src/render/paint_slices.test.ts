import {describe, expect, it} from 'vitest';
import type {SliceTile} from '../api/tile';
import {paintSlices, type SlicePaint} from './paint_slices';
import type {Palette} from './palette';
import type {Pixels} from './pixels';

interface Drawn {
  x: number;
  y: number;
  width: number;
  height: number;
}

// Pixels that remember.
function remembering(drawn: Map<number, Drawn[]>): Pixels {
  return {
    rect(colour: number, x: number, y: number, width: number, height: number) {
      const list = drawn.get(colour) ?? [];
      list.push({x, y, width, height});
      drawn.set(colour, list);
    },
  } as unknown as Pixels;
}

function tileOf(slices: number[][], cells: number[][], gap = 100): SliceTile {
  const column = (rows: number[][], i: number) => rows.map((row) => row[i]!);
  return {
    form: 'slices',
    track: 0,
    level: 0,
    start: 0,
    nsPerColumn: 1,
    depth: 2,
    bytes: 0,
    names: ['a'],
    slices: {
      start: Float64Array.from(column(slices, 0)),
      duration: Float64Array.from(column(slices, 1)),
      depth: Uint16Array.from(column(slices, 2)),
      name: new Uint32Array(slices.length),
      ordinal: new Uint32Array(slices.length),
      window: new Uint16Array(slices.length),
      kind: new Uint8Array(slices.length),
      flags: new Uint8Array(slices.length),
    },
    cells: {
      column: Uint16Array.from(column(cells, 0)),
      covered: Uint8Array.from(column(cells, 1)),
      depth: new Uint16Array(cells.length),
      count: new Uint32Array(cells.length).fill(1),
      name: new Uint32Array(cells.length),
      ordinal: new Uint32Array(cells.length),
      window: new Uint16Array(cells.length),
      kind: new Uint8Array(cells.length),
    },
    gaps: {start: Float64Array.of(600), duration: Float64Array.of(gap), cause: Uint8Array.of(1)},
  };
}

const palette = {
  slices: ['s0', 's1', 's2', 's3'],
  faint: ['f0', 'f1', 'f2', 'f3'],
  inks: ['i', 'i', 'i', 'i'],
  levels: [],
  soft: 'soft',
} as unknown as Palette;

// Colours are numbers here: slices from 0, faint ones from 4, causes from 100.
function paint(tile: SliceTile, from: number, to: number, query = '') {
  const drawn = new Map<number, Drawn[]>();
  const state: SlicePaint = {
    palette,
    pixels: remembering(drawn),
    colours: Uint32Array.from({length: 8}, (_, i) => i),
    causes: Uint32Array.of(100, 101),
    labels: [],
    view: {from: 0, to: 1000},
    width: 500,
    query,
    idle: false,
  };
  paintSlices(state, tile, 100, 18, from, to, false, true);
  const work = [...drawn].filter(([colour]) => colour < 100);
  return {
    rects: work.flatMap(([, rects]) => rects),
    colours: work.map(([colour]) => colour),
    gaps: [...drawn].filter(([colour]) => colour >= 100),
    labels: state.labels,
  };
}

describe('slices', () => {
  it('stand where their time and depth say', () => {
    const {rects, labels} = paint(tileOf([[200, 400, 1]], []), 0, 1024);
    expect(rects).toHaveLength(1);
    expect(rects[0]!.x).toBe(100);
    expect(rects[0]!.y).toBe(118);
    expect(rects[0]!.width).toBeCloseTo(199.3, 3);
    expect(labels.map((label) => label.text)).toEqual(['a']);
  });
  it('of two tiles meet without a seam, and are named once', () => {
    const tile = tileOf([[200, 600, 0]], []);
    const left = paint(tile, 0, 512);
    const right = paint(tile, 512, 1024);
    expect(left.rects[0]!.x + left.rects[0]!.width).toBeGreaterThanOrEqual(right.rects[0]!.x);
    expect([left.labels.length, right.labels.length]).toEqual([1, 0]);
  });
  it('that a search does not mean are faint', () => {
    expect(paint(tileOf([[200, 400, 0]], []), 0, 1024, 'zzz').colours[0]).toBeGreaterThanOrEqual(4);
    expect(paint(tileOf([[200, 400, 0]], []), 0, 1024, 'A').colours[0]).toBeLessThan(4);
  });
});

describe('cells', () => {
  it('that touch are one rectangle', () => {
    const cells = [10, 11, 12, 13, 40].map((column) => [column, 255]);
    const {rects} = paint(tileOf([], cells), 0, 1024);
    expect(rects).toHaveLength(2);
    expect(rects[0]!.x).toBe(5);
    expect(rects[0]!.width).toBeCloseTo(2);
  });
  it('outside of the wanted part are not drawn', () => {
    expect(paint(tileOf([], [[10, 255]]), 512, 1024).rects).toHaveLength(0);
  });
});

describe('gaps', () => {
  it('are a band at the foot in the colour of their cause', () => {
    const [[colour, [gap]]] = paint(tileOf([], []), 0, 1024).gaps as [[number, Drawn[]]];
    expect(colour).toBe(101);
    expect([gap!.x, gap!.width, gap!.height]).toEqual([300, 50, 4]);
    expect(gap!.y + gap!.height).toBeLessThanOrEqual(100 + 2 * 18);
  });
  it('that fill a part of a pixel are drawn as that part', () => {
    const [[, [gap]]] = paint(tileOf([], [], 0.4), 0, 1024).gaps as [[number, Drawn[]]];
    expect(gap!.width).toBeCloseTo(0.2, 6);
  });
});
