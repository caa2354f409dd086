// Tiles that were fetched, by track, level and index. The least recently drawn go first when there
// are too many bytes. A finer tile that is on its way is stood in for by a coarser one.
import {getBytes} from '../api/http';
import {decodeTiles, type Tile} from '../api/tile';

export interface TileKey {
  track: number;
  level: number;
  index: number;
}

const MOST_BYTES = 192 * 1024 * 1024;
const AGAIN_MS = 2000;
const MOST_AT_ONCE = 4;
const MOST_TRACKS = 64; // of one request, the server's limit

function keyText(track: number, level: number, index: number): string {
  return `${track}/${level}/${index}`;
}

type Fetch = (level: number, index: number, tracks: readonly number[]) => Promise<ArrayBuffer>;

const fromServer: Fetch = (level, index, tracks) =>
  getBytes(`api/tiles/${level}/${index}`, {tracks: tracks.join(',')});

export class TileCache {
  private readonly tiles = new Map<string, Tile>();
  private readonly wanted = new Map<string, TileKey>();
  private readonly underWay = new Set<string>();
  private readonly failed = new Map<string, number>();
  private held = 0;
  private requests = 0;

  constructor(
    private readonly arrived: () => void,
    private readonly maxLevel: number,
    private readonly fetch: Fetch = fromServer,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  get bytes(): number {
    return this.held;
  }
  get waiting(): number {
    return this.wanted.size + this.underWay.size;
  }

  // The tile itself, or nothing yet; being asked for keeps a tile.
  get(track: number, level: number, index: number): Tile | undefined {
    const key = keyText(track, level, index);
    const tile = this.tiles.get(key);
    if (tile === undefined) return undefined;
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    return tile;
  }

  // The finest tile at hand that covers the wanted one.
  coarser(track: number, level: number, index: number): Tile | undefined {
    for (let up = level + 1; up <= this.maxLevel; ++up) {
      const tile = this.get(track, up, Math.floor(index / 2 ** (up - level)));
      if (tile !== undefined) return tile;
    }
    return undefined;
  }

  // What the next frames need, the most urgent first; earlier wishes that are not repeated are
  // forgotten, so that a fast zoom does not fetch all it passed.
  want(keys: readonly TileKey[]): void {
    this.wanted.clear();
    const now = Date.now();
    for (const key of keys) {
      const text = keyText(key.track, key.level, key.index);
      if (this.tiles.has(text) || this.underWay.has(text)) continue;
      if ((this.failed.get(text) ?? 0) > now) continue;
      this.wanted.set(text, key);
    }
    this.pump();
  }

  private pump(): void {
    while (this.requests < MOST_AT_ONCE && this.wanted.size > 0) {
      const first = this.wanted.values().next().value!;
      const batch: number[] = [];
      for (const [text, key] of this.wanted) {
        if (key.level !== first.level || key.index !== first.index) continue;
        batch.push(key.track);
        this.wanted.delete(text);
        this.underWay.add(text);
        if (batch.length === MOST_TRACKS) break;
      }
      void this.request(first.level, first.index, batch);
    }
  }

  private async request(level: number, index: number, tracks: readonly number[]): Promise<void> {
    ++this.requests;
    const texts = tracks.map((track) => keyText(track, level, index));
    try {
      const tiles = decodeTiles(await this.fetch(level, index, tracks));
      tiles.forEach((tile, i) => {
        this.put(texts[i]!, tile);
      });
    } catch {
      // Asked again in a while: the server may be busy.
      for (const text of texts) this.failed.set(text, Date.now() + AGAIN_MS);
      setTimeout(this.arrived, AGAIN_MS);
    }
    for (const text of texts) this.underWay.delete(text);
    --this.requests;
    this.arrived();
    this.pump();
  }

  private put(key: string, tile: Tile): void {
    this.tiles.set(key, tile);
    this.held += tile.bytes;
    for (const [old, oldest] of this.tiles) {
      if (this.held <= this.mostBytes || old === key) break;
      this.tiles.delete(old);
      this.held -= oldest.bytes;
    }
  }
}
