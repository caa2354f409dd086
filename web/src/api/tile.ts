// Tiles of the timeline: typed arrays laid over the bytes of the answer, nothing copied but names.
// The layout is docs/formats/http-api.md; a tile that does not fit it is refused, not guessed at.
import {DecodeError} from './json';

const HEADER = 64;
const MAGIC = 0x4c545353; // "SSTL" read as a little-endian number
export const NO_EVENT = 0xffffffff;

export interface SliceTile {
  form: 'slices';
  track: number;
  level: number;
  start: number; // ns of the run, of column 0
  nsPerColumn: number;
  depth: number;
  names: readonly string[];
  slices: {
    start: Float64Array;
    duration: Float64Array;
    name: Uint32Array;
    ordinal: Uint32Array;
    window: Uint16Array;
    depth: Uint16Array;
    kind: Uint8Array;
    flags: Uint8Array;
  };
  cells: {
    count: Uint32Array;
    name: Uint32Array;
    ordinal: Uint32Array;
    column: Uint16Array;
    depth: Uint16Array;
    window: Uint16Array;
    kind: Uint8Array;
    covered: Uint8Array;
  };
  gaps: {start: Float64Array; duration: Float64Array; cause: Uint8Array};
  bytes: number;
}

export interface CounterTile {
  form: 'counter';
  track: number;
  level: number;
  start: number;
  nsPerColumn: number;
  before: number; // NaN: none
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
  column: Uint16Array;
  bytes: number;
}

export type Tile = SliceTile | CounterTile;

class Arrays {
  private at: number;
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly start: number,
    private readonly end: number,
  ) {
    this.at = start + HEADER;
  }
  private take(bytes: number): number {
    const at = this.at;
    if (at + bytes > this.end) throw new DecodeError('tile: its arrays are longer than it is');
    this.at = at + bytes + ((8 - ((at - this.start + bytes) % 8)) % 8);
    return at;
  }
  f64(n: number): Float64Array {
    return new Float64Array(this.buffer, this.take(8 * n), n);
  }
  u32(n: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * n), n);
  }
  u16(n: number): Uint16Array {
    return new Uint16Array(this.buffer, this.take(2 * n), n);
  }
  u8(n: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(n), n);
  }
}

function decodeTile(buffer: ArrayBuffer, start: number): Tile {
  if (start + HEADER > buffer.byteLength) throw new DecodeError('tile: shorter than its header');
  const head = new DataView(buffer, start, HEADER);
  if (head.getUint32(0, true) !== MAGIC) throw new DecodeError('tile: does not begin with SSTL');
  const version = head.getUint16(4, true);
  if (version !== 1) throw new DecodeError(`tile: version ${version}; this page knows 1`);
  const bytes = head.getUint32(12, true);
  if (bytes < HEADER || bytes % 8 !== 0 || start + bytes > buffer.byteLength) {
    throw new DecodeError(`tile: says it has ${bytes} bytes`);
  }
  const common = {
    level: head.getUint8(7),
    track: head.getUint32(8, true),
    start: head.getFloat64(16, true),
    nsPerColumn: head.getFloat64(24, true),
    bytes,
  };
  const n = head.getUint32(32, true);
  const arrays = new Arrays(buffer, start, start + bytes);
  if (head.getUint8(6) === 2) {
    return {
      form: 'counter',
      ...common,
      before: head.getFloat64(56, true),
      min: arrays.f64(n),
      max: arrays.f64(n),
      last: arrays.f64(n),
      column: arrays.u16(n),
    };
  }
  const m = head.getUint32(36, true);
  const g = head.getUint32(40, true);
  const k = head.getUint32(44, true);
  const b = head.getUint32(48, true);
  const slices = {
    start: arrays.f64(n),
    duration: arrays.f64(n),
    name: arrays.u32(n),
    ordinal: arrays.u32(n),
    window: arrays.u16(n),
    depth: arrays.u16(n),
    kind: arrays.u8(n),
    flags: arrays.u8(n),
  };
  const cells = {
    count: arrays.u32(m),
    name: arrays.u32(m),
    ordinal: arrays.u32(m),
    column: arrays.u16(m),
    depth: arrays.u16(m),
    window: arrays.u16(m),
    kind: arrays.u8(m),
    covered: arrays.u8(m),
  };
  const gaps = {start: arrays.f64(g), duration: arrays.f64(g), cause: arrays.u8(g)};
  const first = arrays.u32(k + 1);
  const letters = arrays.u8(b);
  const reader = new TextDecoder();
  const names: string[] = [];
  for (let i = 0; i < k; ++i) names.push(reader.decode(letters.subarray(first[i], first[i + 1])));
  return {form: 'slices', ...common, depth: head.getUint32(52, true), names, slices, cells, gaps};
}

// All tiles of an answer, in their order.
export function decodeTiles(buffer: ArrayBuffer): Tile[] {
  const tiles: Tile[] = [];
  for (let at = 0; at < buffer.byteLength; ) {
    const tile = decodeTile(buffer, at);
    tiles.push(tile);
    at += tile.bytes;
  }
  return tiles;
}
