// What drawing needs of a tile's names, computed once per tile: the shade of each, and whether a
// search means it.
import type {SliceTile} from '../api/tile';
import {shortName} from './cells';
import {shadeOf} from './palette';

interface Marks {
  shades: Uint8Array;
  labels: string[];
  query: string;
  meant: Uint8Array | null;
}

const known = new WeakMap<SliceTile, Marks>();

export function marksOf(tile: SliceTile, query: string): Marks {
  let marks = known.get(tile);
  if (marks === undefined) {
    marks = {
      shades: Uint8Array.from(tile.names, shadeOf),
      labels: tile.names.map(shortName),
      query: '',
      meant: null,
    };
    known.set(tile, marks);
  }
  if (marks.query !== query) {
    const wanted = query.toLowerCase();
    marks.query = query;
    marks.meant =
      query === ''
        ? null
        : Uint8Array.from(tile.names, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
  }
  return marks;
}
