// What is under the pointer: a slice, a cell of short events, a gap between work, a counter's value.
import {type CounterTile, NO_EVENT, type SliceTile} from '../api/tile';

export interface Hit {
  form: 'slice' | 'cell' | 'gap';
  name: string;
  kind: number; // index into the kinds; level of a log line; cause of a gap
  start: number;
  duration: number;
  ordinal: number | null;
  window: number;
  depth: number;
  count: number; // events in a cell
  within?: number; // of a gap that is the sum of short ones: the time in which they are
}

// `reach` is how many ns a pixel is off at most, so that thin slices can be met.
export function hitSlices(tile: SliceTile, ns: number, depth: number, reach: number): Hit | null {
  const {slices, cells} = tile;
  let best: Hit | null = null;
  let distance = Number.POSITIVE_INFINITY;
  for (let i = 0; i < slices.start.length; ++i) {
    if (slices.depth[i] !== depth) continue;
    const start = slices.start[i]!;
    const duration = slices.duration[i]!;
    const off = ns < start ? start - ns : Math.max(ns - start - duration, 0);
    if (off > reach || off >= distance) continue;
    distance = off;
    best = {
      form: 'slice',
      name: tile.names[slices.name[i]!]!,
      kind: slices.kind[i]!,
      start,
      duration,
      ordinal: slices.ordinal[i] === NO_EVENT ? null : slices.ordinal[i]!,
      window: slices.window[i]!,
      depth,
      count: 1,
    };
  }
  if (best !== null && distance === 0) return best;
  for (let i = 0; i < cells.count.length; ++i) {
    if (cells.depth[i] !== depth) continue;
    const start = tile.start + cells.column[i]! * tile.nsPerColumn;
    const off = ns < start ? start - ns : Math.max(ns - start - tile.nsPerColumn, 0);
    if (off > reach || off >= distance) continue;
    distance = off;
    best = {
      form: 'cell',
      name: tile.names[cells.name[i]!]!,
      kind: cells.kind[i]!,
      start,
      duration: tile.nsPerColumn,
      ordinal: cells.ordinal[i] === NO_EVENT ? null : cells.ordinal[i]!,
      window: cells.window[i]!,
      depth,
      count: cells.count[i]!,
    };
  }
  if (best !== null) return best;
  return gapAt(tile, ns, depth);
}

// A single gap, or the short ones of a column together.
function gapAt({gaps, nsPerColumn}: SliceTile, ns: number, depth: number): Hit | null {
  let found: Hit | null = null;
  for (let i = 0; i < gaps.start.length; ++i) {
    const start = gaps.start[i]!;
    const duration = gaps.duration[i]!;
    const isSum = duration < nsPerColumn;
    if (ns < start || ns > start + Math.max(duration, nsPerColumn)) continue;
    if (found !== null && isSum) continue;
    found = {
      form: 'gap',
      name: '',
      kind: gaps.cause[i]!,
      start,
      duration,
      ordinal: null,
      window: 0,
      depth,
      count: 1,
      ...(isSum ? {within: nsPerColumn} : {}),
    };
  }
  return found;
}

export function valueAt(tile: CounterTile, ns: number): number | null {
  let value = tile.before;
  for (let i = 0; i < tile.column.length; ++i) {
    if (tile.start + tile.column[i]! * tile.nsPerColumn > ns) break;
    value = tile.last[i]!;
  }
  return Number.isNaN(value) ? null : value;
}
