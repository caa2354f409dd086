// One frame of the timeline: everything that is on screen, from the tiles at hand. Wishes for tiles
// that are missing are gathered on the way.
import type {EventRef, Tracks} from '../api/tracks';
import type {TileCache, TileKey} from '../state/tiles';
import {type Layout, type TrackPlace, visibleTracks} from './layout';
import {bytesText, numberText} from './numbers';
import {paintCounter} from './paint_counter';
import {colourList, type Label, paintSlices, type SlicePaint} from './paint_slices';
import type {Palette} from './palette';
import {Pixels, packed} from './pixels';
import {levelFor, niceStep, nsPerPixel, ticks, tickText, tileRange, type View, xOf} from './scale';

export const RULER = 30;

export interface Arrow {
  from: EventRef;
  to: EventRef;
}

export interface Scene {
  tracks: Tracks;
  layout: Layout;
  view: View;
  scroll: number;
  width: number;
  height: number;
  palette: Palette;
  query: string;
  chosen: EventRef | null;
  arrows: readonly Arrow[];
  stretch: View | null; // of time that was selected
  pointer: number | null; // x
}

export class Painter {
  private readonly pixels = new Pixels();
  private image: ImageData | null = null;
  private readonly labels: Label[] = [];
  private colours = new Uint32Array(0);
  private causes = new Uint32Array(0);
  private palette: Palette | null = null;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly cache: TileCache,
  ) {}

  paint(scene: Scene): TileKey[] {
    const {context} = this;
    if (this.palette !== scene.palette) {
      this.palette = scene.palette;
      this.colours = Uint32Array.from(colourList(scene.palette), packed);
      this.causes = Uint32Array.from(scene.palette.causes, packed);
    }
    const {width, height, palette, view} = scene;
    this.fit(scene);
    const {pixels} = this;
    pixels.clear(packed(palette.card));
    const step = niceStep(nsPerPixel(view, width) * 110);
    const places = ticks(view, width);
    const rule = packed(palette.line);
    for (const tick of places) {
      pixels.block(rule, Math.round(xOf(tick, view, width)), RULER, 1, height - RULER);
    }

    const wishes: TileKey[] = [];
    const shown = visibleTracks(scene.layout, scene.scroll, height - RULER);
    const level = levelFor(nsPerPixel(view, width), scene.tracks.max_level);
    const tiles = tileRange(view, level, scene.tracks.columns, scene.tracks.length_ns);
    const paint: SlicePaint = {
      palette,
      pixels,
      colours: this.colours,
      causes: this.causes,
      labels: this.labels,
      view,
      width,
      query: scene.query,
      idle: false,
    };
    this.labels.length = 0;
    for (const place of shown) {
      const y = RULER + place.y - scene.scroll;
      for (let index = tiles.first; index <= tiles.last; ++index) {
        this.paintTile(scene, paint, place, y, level, index, tiles.size, wishes);
      }
    }
    pixels.finish();
    context.putImageData(this.image!, 0, 0);
    for (const place of shown) {
      if (place.track.kind === 'counter')
        this.nameCounter(scene, place, RULER + place.y - scene.scroll);
    }
    this.paintLabels();
    this.paintChosen(scene, shown);
    this.paintArrows(scene);
    this.paintStretch(scene);
    this.paintRuler(scene, places, step);
    return wishes;
  }

  private fit(scene: Scene): void {
    const {pixels} = this;
    const ratio = devicePixelRatio || 1;
    const {canvas} = this.context;
    if (this.image !== null && pixels.width === canvas.width && pixels.height === canvas.height)
      return;
    pixels.resize(scene.width, scene.height, ratio);
    this.image = new ImageData(pixels.bytes, pixels.width, pixels.height);
  }

  private paintTile(
    scene: Scene,
    paint: SlicePaint,
    place: TrackPlace,
    y: number,
    level: number,
    index: number,
    size: number,
    wishes: TileKey[],
  ): void {
    const {track} = place;
    const from = index * size;
    if (track.kind !== 'counter' && (track.last_ns < from || track.first_ns > from + size)) return;
    let tile = this.cache.get(track.id, level, index);
    if (tile === undefined) {
      wishes.push({track: track.id, level, index});
      tile = this.cache.coarser(track.id, level, index);
      if (tile === undefined) return;
    }
    if (tile.form === 'slices') {
      paint.idle = track.kind === 'device_idle';
      paintSlices(paint, tile, y, place.row, from, from + size, track.kind === 'log', true);
      return;
    }
    paintCounter(
      {
        pixels: this.pixels,
        line: packed(scene.palette.counter),
        area: packed(scene.palette.counterFill),
        view: scene.view,
        width: scene.width,
        y,
        height: place.height,
        min: track.min ?? 0,
        max: track.max ?? 1,
      },
      tile,
      from,
      from + size,
    );
  }

  private nameCounter(scene: Scene, place: TrackPlace, y: number): void {
    const {context} = this;
    context.font = '10.5px Inter, system-ui';
    context.textBaseline = 'top';
    const {max, unit} = place.track;
    if (max === null) return;
    const text = counterText(max, unit);
    context.fillStyle = scene.palette.card;
    context.globalAlpha = 0.8;
    context.fillRect(3, y + 1, context.measureText(text).width + 6, 14);
    context.globalAlpha = 1;
    context.fillStyle = scene.palette.soft;
    context.fillText(text, 6, y + 3);
  }

  private paintLabels(): void {
    const {context} = this;
    context.font = '11px Inter, system-ui';
    context.textBaseline = 'middle';
    for (const label of this.labels) {
      const room = Math.floor((label.width - 10) / 6.1);
      if (room < 3) continue;
      const text = label.text.length > room ? `${label.text.slice(0, room - 1)}…` : label.text;
      context.fillStyle = label.ink;
      context.fillText(text, label.x + 5, label.y + label.row / 2);
    }
  }

  private boxOf(
    scene: Scene,
    ref: EventRef,
  ): {x: number; y: number; width: number; row: number} | null {
    const place = scene.layout.tracks.find((each) => each.track.id === ref.track);
    if (place === undefined) return null;
    const x = xOf(ref.start_ns, scene.view, scene.width);
    const end = xOf(ref.start_ns + ref.duration_ns, scene.view, scene.width);
    const y = RULER + place.y - scene.scroll + ref.depth * place.row;
    return {x, y, width: Math.max(end - x, 2), row: place.row};
  }

  private paintChosen(scene: Scene, _shown: readonly TrackPlace[]): void {
    if (scene.chosen === null) return;
    const box = this.boxOf(scene, scene.chosen);
    if (box === null) return;
    const {context} = this;
    context.strokeStyle = scene.palette.ink;
    context.lineWidth = 2;
    const x = Math.max(box.x, -4);
    const end = Math.min(box.x + box.width, scene.width + 4);
    context.strokeRect(x - 1, box.y - 1, Math.max(end - x, 2) + 1, box.row + 1);
  }

  // From what started something to what it started.
  private paintArrows(scene: Scene): void {
    const {context} = this;
    context.lineWidth = 1.4;
    context.strokeStyle = scene.palette.accent;
    context.fillStyle = scene.palette.accent;
    for (const arrow of scene.arrows) {
      const from = this.boxOf(scene, arrow.from);
      const to = this.boxOf(scene, arrow.to);
      if (from === null || to === null) continue;
      const x0 = Math.min(Math.max(from.x + Math.min(from.width, 6) / 2, -50), scene.width + 50);
      const x1 = Math.min(Math.max(to.x, -50), scene.width + 50);
      const down = to.y > from.y;
      const y0 = from.y + (down ? from.row : 0);
      const y1 = to.y + (down ? 0 : to.row);
      const bend = Math.min(Math.abs(y1 - y0) * 0.5, 70) * (down ? 1 : -1);
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 3.5, y1 - (down ? 6 : -6));
      context.lineTo(x1 + 3.5, y1 - (down ? 6 : -6));
      context.fill();
    }
  }

  private paintStretch(scene: Scene): void {
    if (scene.stretch === null) return;
    const {context} = this;
    const x0 = xOf(scene.stretch.from, scene.view, scene.width);
    const x1 = xOf(scene.stretch.to, scene.view, scene.width);
    context.globalAlpha = 0.12;
    context.fillStyle = scene.palette.accent;
    context.fillRect(x0, 0, x1 - x0, scene.height);
    context.globalAlpha = 1;
    context.fillRect(x0, 0, 1, scene.height);
    context.fillRect(x1, 0, 1, scene.height);
  }

  private paintRuler(scene: Scene, places: readonly number[], step: number): void {
    const {context} = this;
    const {palette, view, width} = scene;
    context.fillStyle = palette.card;
    context.fillRect(0, 0, width, RULER - 1);
    if (scene.stretch !== null) {
      const x0 = xOf(scene.stretch.from, view, width);
      context.globalAlpha = 0.25;
      context.fillStyle = palette.accent;
      context.fillRect(x0, 0, xOf(scene.stretch.to, view, width) - x0, RULER);
      context.globalAlpha = 1;
    }
    context.fillStyle = palette.line;
    context.fillRect(0, RULER - 1, width, 1);
    context.font = '11px Inter, system-ui';
    context.textBaseline = 'middle';
    const reach = Math.max(...places.map(Math.abs));
    for (const tick of places) {
      const x = Math.round(xOf(tick, view, width));
      context.fillStyle = palette.line;
      context.fillRect(x, RULER - 8, 1, 8);
      const text = tickText(tick, step, reach);
      // One that would be cut off says something else: 70 ms would read 7.
      if (x + 5 + context.measureText(text).width > width) continue;
      context.fillStyle = palette.soft;
      context.fillText(text, x + 5, 13);
    }
    if (scene.pointer !== null) {
      context.fillStyle = palette.accent;
      context.globalAlpha = 0.55;
      context.fillRect(Math.round(scene.pointer), 0, 1, scene.height);
      context.globalAlpha = 1;
    }
  }
}

export function counterText(value: number, unit: string | null): string {
  if (unit === 'bytes') return bytesText(value);
  if (unit === 'bytes/s') return `${bytesText(Math.round(value))}/s`;
  return `${numberText(value)}${unit === null || unit === '' ? '' : ` ${unit}`}`;
}
