import {describe, expect, it} from 'vitest';
import {decodeTiles} from './tile';

// Writes tiles as docs/formats/http-api.md says, apart from the decoder, so that both can be wrong.
function sliceTile(
  names: string[],
  slices: number[][],
  cells: number[][],
  gaps: number[][],
): Uint8Array {
  const texts = names.map((name) => new TextEncoder().encode(name));
  const parts: Uint8Array[] = [];
  const put = (array: ArrayBufferView) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
    padded.set(bytes);
    parts.push(padded);
  };
  const column = (rows: number[][], i: number) => rows.map((row) => row[i]!);
  put(new Float64Array(column(slices, 0)));
  put(new Float64Array(column(slices, 1)));
  put(new Uint32Array(column(slices, 2)));
  put(new Uint32Array(column(slices, 3)));
  put(new Uint16Array(column(slices, 4)));
  put(new Uint16Array(column(slices, 5)));
  put(new Uint8Array(column(slices, 6)));
  put(new Uint8Array(column(slices, 7)));
  put(new Uint32Array(column(cells, 0)));
  put(new Uint32Array(column(cells, 1)));
  put(new Uint32Array(column(cells, 2)));
  put(new Uint16Array(column(cells, 3)));
  put(new Uint16Array(column(cells, 4)));
  put(new Uint16Array(column(cells, 5)));
  put(new Uint8Array(column(cells, 6)));
  put(new Uint8Array(column(cells, 7)));
  put(new Float64Array(column(gaps, 0)));
  put(new Float64Array(column(gaps, 1)));
  put(new Uint8Array(column(gaps, 2)));
  const first = [0];
  for (const text of texts) first.push(first.at(-1)! + text.length);
  put(new Uint32Array(first));
  const letters = new Uint8Array(first.at(-1)!);
  for (const [i, text] of texts.entries()) letters.set(text, first[i]);
  put(letters);
  const body = parts.reduce((sum, part) => sum + part.length, 0);
  const tile = new Uint8Array(64 + body);
  const head = new DataView(tile.buffer);
  tile.set(new TextEncoder().encode('SSTL'));
  head.setUint16(4, 1, true);
  head.setUint8(6, 1);
  head.setUint8(7, 3);
  head.setUint32(8, 42, true);
  head.setUint32(12, tile.length, true);
  head.setFloat64(16, 8192, true);
  head.setFloat64(24, 8, true);
  head.setUint32(32, slices.length, true);
  head.setUint32(36, cells.length, true);
  head.setUint32(40, gaps.length, true);
  head.setUint32(44, names.length, true);
  head.setUint32(48, first.at(-1)!, true);
  head.setUint32(52, 5, true);
  let at = 64;
  for (const part of parts) {
    tile.set(part, at);
    at += part.length;
  }
  return tile;
}

const one = sliceTile(
  ['aten::mm', 'µ-kernel'],
  [[8200, 900, 0, 17, 0, 2, 1, 4]],
  [
    [3, 1, 99, 500, 1, 0, 6, 255],
    [1, 0, 98, 1023, 1, 0, 1, 1],
  ],
  [[9000, 120, 3]],
);

describe('tiles', () => {
  it('every array is where the format says', () => {
    const [tile] = decodeTiles(one.slice().buffer);
    if (tile?.form !== 'slices') throw new Error('not a tile of slices');
    expect([tile.track, tile.level, tile.start, tile.nsPerColumn, tile.depth]).toEqual([
      42, 3, 8192, 8, 5,
    ]);
    expect(tile.names).toEqual(['aten::mm', 'µ-kernel']);
    expect([...tile.slices.start, ...tile.slices.duration, ...tile.slices.ordinal]).toEqual([
      8200, 900, 17,
    ]);
    expect([tile.slices.depth[0], tile.slices.kind[0], tile.slices.flags[0]]).toEqual([2, 1, 4]);
    expect([...tile.cells.count, ...tile.cells.column]).toEqual([3, 1, 500, 1023]);
    expect([...tile.cells.covered]).toEqual([255, 1]);
    expect([tile.gaps.start[0], tile.gaps.duration[0], tile.gaps.cause[0]]).toEqual([9000, 120, 3]);
  });
  it('several tiles stand one after the other', () => {
    const both = new Uint8Array(2 * one.length);
    both.set(one);
    both.set(one, one.length);
    expect(decodeTiles(both.buffer).map((tile) => tile.track)).toEqual([42, 42]);
  });
  it('counters have a value before their first point', () => {
    const tile = new Uint8Array(64 + 3 * 16 + 8);
    tile.set(one.subarray(0, 64));
    const head = new DataView(tile.buffer);
    head.setUint8(6, 2);
    head.setUint32(12, tile.length, true);
    head.setUint32(32, 2, true);
    head.setFloat64(56, 7.5, true);
    new Float64Array(tile.buffer, 64, 6).set([1, 2, 3, 4, 5, 6]);
    new Uint16Array(tile.buffer, 112, 2).set([10, 20]);
    const [found] = decodeTiles(tile.buffer);
    if (found?.form !== 'counter') throw new Error('not a counter');
    expect(found.before).toBe(7.5);
    expect([...found.min, ...found.max, ...found.last, ...found.column]).toEqual([
      1, 2, 3, 4, 5, 6, 10, 20,
    ]);
  });
  it.each([
    ['cut in its header', one.slice(0, 40), /shorter than its header/],
    ['cut in its arrays', one.slice(0, 72), /says it has/],
    ['another format', new Uint8Array(64), /SSTL/],
  ])('a tile %s is refused', (_, bytes, message) => {
    expect(() => decodeTiles(bytes.slice().buffer)).toThrow(message);
  });
  it('counts that do not fit are refused', () => {
    const wrong = one.slice();
    new DataView(wrong.buffer).setUint32(32, 1e6, true);
    expect(() => decodeTiles(wrong.buffer)).toThrow(/longer than it is/);
  });
});
