// One tile of nested events, painted between two places of the canvas. Slices are drawn as they are;
// cells, which stand for events shorter than a pixel, are joined to runs of one colour.
import type {SliceTile} from '../api/tile';
import {type Palette, SHADES} from './palette';
import type {Pixels} from './pixels';
import type {View} from './scale';
import {marksOf} from './tile_marks';

export interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  row: number; // its height
  ink: string;
}

export interface SlicePaint {
  palette: Palette;
  pixels: Pixels;
  colours: Uint32Array; // as colourList() numbers them
  causes: Uint32Array;
  labels: Label[];
  view: View;
  width: number;
  query: string;
  idle: boolean; // the track is of gaps alone
}

const LEAST_LABEL = 36; // pixels
const LEVELS = 6;
const LOG_LINE = 3; // pixels

// Colours are numbered: all slices, all faint ones, then the levels of log lines.
export function colourList(palette: Palette): string[] {
  return [...palette.slices, ...palette.faint, ...palette.levels];
}

export function paintSlices(
  paint: SlicePaint,
  tile: SliceTile,
  y: number,
  row: number,
  from: number, // ns: the part of the tile that is wanted
  to: number,
  isLog: boolean,
  labelled: boolean,
): void {
  const {view, width, pixels, palette, query} = paint;
  const scale = width / (view.to - view.from);
  const marks = marksOf(tile, query);
  const kinds = palette.slices.length / SHADES;
  const left = Math.max((from - view.from) * scale, 0);
  const right = Math.min((to - view.from) * scale, width);
  if (right <= left) return;
  const colourOf = (kind: number, name: number): number => {
    if (isLog) return 2 * palette.slices.length + Math.min(kind, LEVELS - 1);
    const index = Math.min(kind, kinds - 1) * SHADES + marks.shades[name]!;
    return marks.meant !== null && marks.meant[name] === 0 ? palette.slices.length + index : index;
  };

  const {slices} = tile;
  const high = row - 1;
  for (let i = 0; i < slices.start.length; ++i) {
    const begin = (slices.start[i]! - view.from) * scale;
    // A line of a log has no length, and is to be seen all the same.
    const end = Math.max(begin + slices.duration[i]! * scale, isLog ? begin + LOG_LINE : 0);
    const x0 = Math.max(begin, left);
    const x1 = Math.min(end, right);
    if (x1 < left || x0 > right) continue;
    const w = x1 - x0;
    const top = y + slices.depth[i]! * row;
    const name = slices.name[i]!;
    const colour = colourOf(slices.kind[i]!, name);
    // A hair of air between neighbours where there is room; none where it goes on in the next tile.
    const air = end > right ? -0.5 : w > 3 ? 0.7 : 0;
    pixels.rect(paint.colours[colour]!, x0, top, Math.max(w - air, 0.6), high);
    if (!labelled || row < 12) continue;
    // Its text stands once: in the first tile on screen that holds a part of it.
    const first = begin >= left || left === 0;
    const seen = Math.min(end, width) - x0;
    if (first && seen > LEAST_LABEL) {
      const ink = isLog || colour >= palette.slices.length ? palette.soft : palette.inks[colour]!;
      paint.labels.push({text: marks.labels[name]!, x: x0, y: top, width: seen, row, ink});
    }
  }

  paintCells(paint, tile, y, row, left, right, colourOf, isLog ? LOG_LINE : 0.6);
  paintGaps(paint, tile, y + Math.max(tile.depth, 1) * row - 1, row, left, right);
}

function paintCells(
  paint: SlicePaint,
  tile: SliceTile,
  y: number,
  row: number,
  left: number,
  right: number,
  colourOf: (kind: number, name: number) => number,
  least: number, // pixels of a run
): void {
  const {view, width, pixels} = paint;
  const scale = width / (view.to - view.from);
  const {cells} = tile;
  const column = tile.nsPerColumn * scale;
  const origin = (tile.start - view.from) * scale;
  let runColour = -1;
  let runDepth = -1;
  let runX = 0;
  let runEnd = 0;
  const finish = () => {
    if (runColour < 0) return;
    const x0 = Math.max(runX, left);
    const x1 = Math.min(Math.max(runEnd, runX + least), right);
    if (x1 > x0) pixels.rect(paint.colours[runColour]!, x0, y + runDepth * row, x1 - x0, row - 1);
  };
  for (let i = 0; i < cells.count.length; ++i) {
    const x = origin + cells.column[i]! * column;
    if (x + column < left || x > right) continue;
    const depth = cells.depth[i]!;
    const colour = colourOf(cells.kind[i]!, cells.name[i]!);
    // A column that is hardly filled is narrower than one that is full.
    const end = x + column * Math.max(cells.covered[i]! / 255, 0.35);
    if (colour === runColour && depth === runDepth && x - runEnd < 0.75) {
      runEnd = end;
      continue;
    }
    finish();
    runColour = colour;
    runDepth = depth;
    runX = x;
    runEnd = end;
  }
  finish();
}

function paintGaps(
  paint: SlicePaint,
  tile: SliceTile,
  foot: number,
  row: number,
  left: number,
  right: number,
): void {
  const {view, width} = paint;
  const scale = width / (view.to - view.from);
  const {gaps} = tile;
  const whole = paint.idle;
  for (let i = 0; i < gaps.start.length; ++i) {
    const begin = (gaps.start[i]! - view.from) * scale;
    const x0 = Math.max(begin, left);
    const x1 = Math.min(begin + gaps.duration[i]! * scale, right);
    if (x1 <= x0) continue;
    // On a stream gaps are a low band at the foot, so that they are not taken for work.
    const high = whole ? row - 2 : 4;
    paint.pixels.rect(paint.causes[gaps.cause[i]!]!, x0, foot - high, x1 - x0, high);
  }
}
