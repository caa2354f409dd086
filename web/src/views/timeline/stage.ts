// The moving part of the timeline: a frame is painted only when something changed. Preact draws what
// stands around it, controls.ts moves it.

import type {Tile} from '../../api/tile';
import type {EventDetails, EventRef, Track, Tracks} from '../../api/tracks';
import {type Arrow, Painter, RULER, type Scene} from '../../render/frame';
import {type Hit, hitSlices, valueAt} from '../../render/hit';
import {
  arranged,
  closedAtFirst,
  HEADING,
  type Layout,
  layOutTracks,
  type TrackPlace,
} from '../../render/layout';
import {Motion} from '../../render/motion';
import {type Palette, readPalette} from '../../render/palette';
import {levelFor, nsAt, nsPerPixel, tileRange, type View, viewAround} from '../../render/scale';
import {TileCache, type TileKey} from '../../state/tiles';
import {Controls} from './controls';

export interface Under {
  place: TrackPlace;
  hit: Hit | null;
  value: number | null; // of a counter
  ns: number;
  x: number;
  y: number;
}

export interface StageEvents {
  moved(view: View): void; // the view came to rest
  hovered(under: Under | null): void;
  clicked(under: Under | null): void;
  selected(stretch: View | null): void;
  opened(closed: ReadonlySet<string>): void; // a group, for what is shown in it
}

export class Stage {
  readonly motion: Motion;
  width = 100;
  stretch: View | null = null;
  query = '';
  layout: Layout;
  // Of the frames while moving, in ms; for bench/.
  frames: {between: number; painting: number; view: View; scroll: number}[] = [];
  private readonly inOrder: Track[];
  private closed: ReadonlySet<string>;
  private readonly cache: TileCache;
  private readonly painter: Painter;
  private palette: Palette;
  private height = 100;
  private chosen: EventRef | null = null;
  private arrows: Arrow[] = [];
  private asked = 0; // the frame that was asked for
  private gone = false;
  private last = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private readonly controls: Controls;
  private readonly sizes: ResizeObserver;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly tracks: Tracks,
    readonly events: StageEvents,
  ) {
    this.motion = new Motion(tracks.length_ns);
    this.cache = new TileCache(() => this.redraw(), tracks.max_level);
    this.painter = new Painter(canvas.getContext('2d', {alpha: false})!, this.cache);
    this.palette = readPalette(tracks.kinds, tracks.causes);
    this.inOrder = arranged(tracks.tracks);
    this.closed = closedAtFirst(tracks.tracks);
    this.layout = layOutTracks(this.inOrder, this.closed);
    this.controls = new Controls(this, canvas, scroller);
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(canvas);
    this.resize();
  }

  destroy(): void {
    this.gone = true;
    this.controls.destroy();
    this.sizes.disconnect();
    cancelAnimationFrame(this.asked);
    clearTimeout(this.resting);
  }

  setClosed(closed: ReadonlySet<string>): Layout {
    this.closed = closed;
    this.layout = layOutTracks(this.inOrder, closed);
    this.redraw();
    return this.layout;
  }
  setTheme(): void {
    this.palette = readPalette(this.tracks.kinds, this.tracks.causes);
    this.redraw();
  }
  setQuery(query: string): void {
    this.query = query;
    this.redraw();
  }
  setStretch(stretch: View | null): void {
    this.stretch = stretch;
    this.redraw();
  }

  // The event with its links: launch and work, forward and backward.
  choose(details: EventDetails | null): void {
    this.chosen = details;
    this.arrows = [];
    if (details !== null) {
      if (details.launch !== null) this.arrows.push({from: details.launch, to: details});
      for (const work of details.work.slice(0, 40)) this.arrows.push({from: details, to: work});
      if (details.forward !== null) this.arrows.push({from: details.forward, to: details});
      for (const backward of details.backward) this.arrows.push({from: details, to: backward});
      this.open([details.track, ...this.arrows.flatMap(({from, to}) => [from.track, to.track])]);
    }
    this.redraw();
  }

  // Rows in a group that is closed cannot be seen, nor can arrows that lead there.
  private open(tracks: readonly number[]): void {
    const shown = new Set(tracks);
    const groups = this.inOrder.filter((track) => shown.has(track.id)).map((track) => track.group);
    if (!groups.some((group) => this.closed.has(group))) return;
    this.events.opened(new Set([...this.closed].filter((group) => !groups.includes(group))));
  }

  show(view: View, atOnce = false): void {
    if (atOnce) this.motion.jump(view);
    else this.motion.show(view);
    this.redraw();
  }

  drag(view: View, scroll: number): void {
    this.motion.jump(view);
    this.scroller.scrollTop = scroll;
    this.rest();
    this.redraw();
  }

  // The part of a stretch that lies in the run.
  inside(stretch: View): View {
    return {from: Math.max(stretch.from, 0), to: Math.min(stretch.to, this.tracks.length_ns)};
  }

  // Time and row of an event, with air around it.
  showEvent(ref: EventRef): void {
    this.show(viewAround(ref.start_ns, ref.duration_ns, this.motion.target));
    this.showRow(ref);
  }
  // In the next frame: a group that was opened for it has its room only then.
  showRow(ref: EventRef): void {
    requestAnimationFrame(() => {
      if (!this.gone) this.scrollTo(ref);
    });
  }
  private scrollTo(ref: EventRef): void {
    const place = this.layout.tracks.find((each) => each.track.id === ref.track);
    if (place === undefined) return;
    const y = place.y + ref.depth * place.row;
    const room = this.height - RULER;
    if (y < this.scroller.scrollTop + HEADING || y > this.scroller.scrollTop + room - 60) {
      this.scroller.scrollTop = Math.max(0, y - room / 2);
    }
  }

  redraw(): void {
    if (this.asked === 0 && !this.gone)
      this.asked = requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.asked = 0;
    const since = this.last === 0 ? 16 : Math.min(now - this.last, 100);
    const held = this.controls.hold(since);
    const moving = this.motion.advance(since) || held;
    const began = performance.now();
    const wishes = this.painter.paint(this.scene(this.motion.view, this.scroller.scrollTop));
    this.cache.want(this.withNeighbours(wishes));
    const painting = performance.now() - began;
    if (moving) {
      if (this.last !== 0) {
        const {view} = this.motion;
        const scroll = this.scroller.scrollTop;
        this.frames.push({between: now - this.last, painting, view, scroll});
      }
      if (this.frames.length > 4000) this.frames.splice(0, 2000);
      this.last = now;
      this.redraw();
      this.rest();
    } else {
      this.last = 0;
    }
  }

  private scene(view: View, scroll: number): Scene {
    return {
      tracks: this.tracks,
      layout: this.layout,
      view,
      scroll,
      width: this.width,
      height: this.height,
      palette: this.palette,
      query: this.query,
      chosen: this.chosen,
      arrows: this.arrows,
      stretch: this.stretch,
      pointer: this.controls.pointer,
    };
  }

  // A frame of before, painted again with the tiles at hand; the quickest of `times` in ms, so that
  // what else the machine does is left out. For bench/.
  async repainted(frame: number, times: number): Promise<number> {
    const {view, scroll} = this.frames[frame]!;
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < times; ++i) {
      await new Promise(requestAnimationFrame);
      const began = performance.now();
      this.painter.paint(this.scene(view, scroll));
      best = Math.min(best, performance.now() - began);
    }
    return best;
  }

  // What the next move may need comes last: the tiles around the view at a coarser level.
  private withNeighbours(wishes: TileKey[]): TileKey[] {
    if (wishes.length > 0) return wishes;
    const level = Math.min(
      levelFor(nsPerPixel(this.motion.view, this.width), this.tracks.max_level) + 2,
      this.tracks.max_level,
    );
    const range = tileRange(this.motion.view, level, this.tracks.columns, this.tracks.length_ns);
    const found: TileKey[] = [];
    for (const place of this.layout.tracks) {
      if (found.length > 128) break;
      const y = place.y - this.scroller.scrollTop;
      if (y + place.height < -this.height || y > 2 * this.height) continue;
      for (let index = range.first; index <= range.last; ++index)
        found.push({track: place.track.id, level, index});
    }
    return found;
  }

  private rest(): void {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.events.moved(this.motion.target), 250);
  }

  private tileAt(place: TrackPlace, ns: number): Tile | undefined {
    const level = levelFor(nsPerPixel(this.motion.view, this.width), this.tracks.max_level);
    const index = Math.floor(Math.max(ns, 0) / (this.tracks.columns * 2 ** level));
    return (
      this.cache.get(place.track.id, level, index) ??
      this.cache.coarser(place.track.id, level, index)
    );
  }

  under(x: number, y: number): Under | null {
    if (y < RULER) return null;
    const at = y - RULER + this.scroller.scrollTop;
    const place = this.layout.tracks.find((each) => at >= each.y && at < each.y + each.height);
    if (place === undefined) return null;
    const ns = nsAt(x, this.motion.view, this.width);
    const tile = this.tileAt(place, ns);
    const under: Under = {place, hit: null, value: null, ns, x, y};
    if (tile === undefined) return under;
    if (tile.form === 'counter') under.value = valueAt(tile, ns);
    else {
      const depth = Math.floor((at - place.y) / place.row);
      under.hit = hitSlices(tile, ns, depth, 2.5 * nsPerPixel(this.motion.view, this.width));
    }
    return under;
  }

  resize(): void {
    const box = this.canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.width = Math.max(box.width, 10);
    this.height = Math.max(box.height, 10);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.getContext('2d')?.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.redraw();
  }
}
