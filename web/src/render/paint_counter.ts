// One tile of a counter: an area under its line, and what it reached in between as a thin upright.
// Worked out per pixel column first, since a counter may change a hundred times within one.
import type {CounterTile} from '../api/tile';
import type {Pixels} from './pixels';
import type {View} from './scale';

export interface CounterFrame {
  pixels: Pixels;
  line: number; // colours
  area: number;
  view: View;
  width: number;
  y: number;
  height: number;
  min: number;
  max: number;
}

// What a counter did in each pixel column from `left` on: its last value, the lowest and highest.
export interface CounterColumns {
  left: number;
  last: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

export function counterColumns(
  tile: CounterTile,
  view: View,
  width: number,
  from: number,
  to: number,
): CounterColumns | null {
  const scale = width / (view.to - view.from);
  const left = Math.max(Math.floor((from - view.from) * scale), 0);
  const right = Math.min(Math.ceil((to - view.from) * scale), Math.ceil(width));
  if (right <= left) return null;
  const size = right - left;
  const last = new Float64Array(size).fill(Number.NaN);
  const low = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  const origin = (tile.start - view.from) * scale - left;
  const step = tile.nsPerColumn * scale;
  let value = tile.before;
  let at = 0;
  const holdUntil = (end: number) => {
    for (; at < Math.min(end, size); ++at) {
      last[at] = value;
      if (Number.isNaN(value)) continue;
      low[at] = Math.min(low[at]!, value);
      high[at] = Math.max(high[at]!, value);
    }
  };
  for (let i = 0; i < tile.column.length; ++i) {
    const x = Math.floor(origin + tile.column[i]! * step);
    if (x >= size) break;
    holdUntil(x);
    value = tile.last[i]!;
    if (x < 0) continue;
    low[x] = Math.min(low[x]!, tile.min[i]!);
    high[x] = Math.max(high[x]!, tile.max[i]!);
  }
  holdUntil(size);
  return {left, last, low, high};
}

export function paintCounter(
  frame: CounterFrame,
  tile: CounterTile,
  from: number,
  to: number,
): void {
  const columns = counterColumns(tile, frame.view, frame.width, from, to);
  if (columns === null) return;
  const {pixels} = frame;
  const floor = Math.min(frame.min, 0);
  const range = frame.max - floor || 1;
  const foot = frame.y + frame.height - 2;
  const yOf = (value: number) => foot - ((value - floor) / range) * (frame.height - 6);
  const {last, low, high, left} = columns;
  for (let i = 0; i < last.length; ) {
    const value = last[i]!;
    let end = i + 1;
    const level = low[i] === high[i];
    // A stretch without change is one rectangle.
    while (level && end < last.length && low[end] === value && high[end] === value) ++end;
    if (!Number.isNaN(value))
      pixels.block(frame.area, left + i, yOf(value), end - i, foot - yOf(value));
    if (high[i]! >= low[i]!) {
      const top = yOf(high[i]!);
      pixels.block(frame.line, left + i, top - 0.5, end - i, Math.max(yOf(low[i]!) - top, 1.2));
    }
    i = end;
  }
}
