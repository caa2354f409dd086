// Wheel, pointer and keys of the timeline, as on a map: the wheel zooms where the pointer is,
// dragging moves, and along the ruler or with Shift a stretch of time is chosen.
import {RULER} from '../../render/frame';
import {nsAt, nsPerPixel, type View} from '../../render/scale';
import type {Stage} from './stage';

type Push = readonly [zoom: number, pan: number, rows: number];
const HELD: Readonly<Record<string, Push>> = {
  w: [-1, 0, 0],
  s: [1, 0, 0],
  a: [0, -1, 0],
  d: [0, 1, 0],
  ArrowLeft: [0, -1, 0],
  ArrowRight: [0, 1, 0],
  ArrowUp: [0, 0, -1],
  ArrowDown: [0, 0, 1],
};
const CLICK = 4; // pixels a click may wander

function keyOf(event: KeyboardEvent): string {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

export class Controls {
  pointer: number | null = null; // x
  private readonly held = new Set<string>();
  private readonly stop = new AbortController();

  constructor(
    private readonly stage: Stage,
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
  ) {
    const options = {signal: this.stop.signal};
    const on = canvas.addEventListener.bind(canvas);
    scroller.addEventListener('scroll', () => stage.redraw(), options);
    on('wheel', (event) => this.wheel(event), {...options, passive: false});
    on('pointerdown', (event) => this.press(event), options);
    on('pointermove', (event) => this.hover(event), options);
    on('pointerleave', () => this.leave(), options);
    addEventListener('keydown', (event) => this.key(event), options);
    addEventListener('keyup', (event) => this.held.delete(keyOf(event)), options);
    addEventListener('blur', () => this.held.clear(), options);
  }

  destroy(): void {
    this.stop.abort();
  }

  // What keys that are held do in so many milliseconds; whether there are any.
  hold(ms: number): boolean {
    for (const key of this.held) {
      const [zoom, pan, rows] = HELD[key]!;
      const share = this.pointer === null ? 0.5 : this.pointer / this.stage.width;
      if (zoom !== 0) this.stage.motion.zoom(Math.exp((zoom * ms) / 260), share);
      if (pan !== 0) this.stage.motion.pan((pan * ms) / 700);
      if (rows !== 0) this.scroller.scrollTop += rows * ms * 0.9;
    }
    if (this.held.size > 0) this.stage.events.hovered(null);
    return this.held.size > 0;
  }

  private hover(event: PointerEvent): void {
    this.pointer = event.offsetX;
    if (event.buttons === 0) {
      this.stage.events.hovered(this.stage.under(event.offsetX, event.offsetY));
    }
    this.stage.redraw();
  }

  private leave(): void {
    this.pointer = null;
    this.stage.events.hovered(null);
    this.stage.redraw();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const key = keyOf(event);
    if (!(key in HELD)) return;
    this.held.add(key);
    event.preventDefault();
    this.stage.redraw();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const dx = (event.shiftKey ? event.deltaX + event.deltaY : event.deltaX) * lines;
    const dy = event.shiftKey ? 0 : event.deltaY * lines;
    const {motion, width} = this.stage;
    // What was under the pointer moves away from it.
    this.stage.events.hovered(null);
    if (Math.abs(dx) > Math.abs(dy)) motion.pan(dx / width);
    else motion.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) / 300), event.offsetX / width);
    this.stage.redraw();
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const {stage, canvas} = this;
    const selects = event.offsetY < RULER || event.shiftKey;
    const begin = {x: event.offsetX, y: event.offsetY, scroll: this.scroller.scrollTop};
    const seen: View = stage.motion.view;
    let moved = false;
    canvas.setPointerCapture(event.pointerId);
    const move = (next: PointerEvent) => {
      const dx = next.offsetX - begin.x;
      const dy = next.offsetY - begin.y;
      if (!moved && Math.hypot(dx, dy) < CLICK) return;
      moved = true;
      stage.events.hovered(null);
      if (selects) {
        const a = nsAt(begin.x, seen, stage.width);
        const b = nsAt(next.offsetX, seen, stage.width);
        stage.setStretch(stage.inside({from: Math.min(a, b), to: Math.max(a, b)}));
      } else {
        const by = -dx * nsPerPixel(seen, stage.width);
        stage.drag({from: seen.from + by, to: seen.to + by}, begin.scroll - dy);
      }
    };
    const end = () => {
      canvas.removeEventListener('pointermove', move);
      canvas.removeEventListener('pointerup', end);
      canvas.removeEventListener('pointercancel', end);
      if (!moved) stage.events.clicked(stage.under(begin.x, begin.y));
      else if (selects) stage.events.selected(stage.stretch);
    };
    canvas.addEventListener('pointermove', move, {signal: this.stop.signal});
    canvas.addEventListener('pointerup', end, {signal: this.stop.signal});
    canvas.addEventListener('pointercancel', end, {signal: this.stop.signal});
  }
}
