// Which stretch of time is on screen, and the arithmetic of moving it. Times are nanoseconds of the
// run as doubles: exact below 2^53.

export interface View {
  readonly from: number;
  readonly to: number;
}

const SHORTEST = 50; // ns on screen; finer than any clock that recorded them

export function clampView(view: View, length: number): View {
  const whole = Math.max(length, SHORTEST);
  const size = Math.min(Math.max(view.to - view.from, SHORTEST), whole * 1.02);
  // A little air at both ends, so that the first and last events are not at the border.
  const air = size * 0.01;
  const from = Math.min(Math.max(view.from, -air), whole + air - size);
  return {from, to: from + size};
}

export function zoomed(view: View, factor: number, at: number, length: number): View {
  const size = Math.min(Math.max((view.to - view.from) * factor, SHORTEST), length * 1.02);
  const real = size / (view.to - view.from);
  return clampView({from: at - (at - view.from) * real, to: at + (view.to - at) * real}, length);
}

export function panned(view: View, by: number, length: number): View {
  return clampView({from: view.from + by, to: view.to + by}, length);
}

export function nsPerPixel(view: View, width: number): number {
  return (view.to - view.from) / Math.max(width, 1);
}
export function xOf(ns: number, view: View, width: number): number {
  return ((ns - view.from) / (view.to - view.from)) * width;
}
export function nsAt(x: number, view: View, width: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

// The level with 2^level ≤ s < 2^(level + 1) for s ns per pixel.
export function levelFor(nsEachPixel: number, maxLevel: number): number {
  return Math.min(Math.max(Math.floor(Math.log2(nsEachPixel)), 0), maxLevel);
}

export function tileRange(view: View, level: number, columns: number, length: number) {
  const size = columns * 2 ** level;
  const last = Math.max(Math.ceil(length / size) - 1, 0);
  return {
    first: Math.min(Math.max(Math.floor(view.from / size), 0), last),
    last: Math.min(Math.max(Math.floor(view.to / size), 0), last),
    size,
  };
}

// Round places for the time axis: 1, 2 or 5 times a power of ten, at least `least` pixels apart.
export function ticks(view: View, width: number, least = 110): number[] {
  const step = niceStep(nsPerPixel(view, width) * least);
  const found: number[] = [];
  for (let i = Math.ceil(view.from / step); i * step <= view.to; ++i) found.push(i * step);
  return found;
}

export function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1e-9)));
  for (const factor of [1, 2, 5, 10]) {
    if (factor * power >= atLeast * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Bytes are written in powers of two, and so are the places of their axis: 128 MiB, not 95.4.
export const BYTE_STEPS: readonly number[] = Array.from({length: 64}, (_, i) => 2 ** i);

export function byteStep(atLeast: number): number {
  return BYTE_STEPS.find((step) => step >= atLeast * (1 - 1e-9)) ?? niceStep(atLeast);
}

const UNITS: readonly (readonly [string, number])[] = [
  ['ns', 1],
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
];

// All ticks of an axis share the unit and the digits that their distance needs; `reach` is how far
// the axis goes.
export function tickText(ns: number, step: number, reach: number): string {
  let chosen = 0;
  while (chosen + 1 < UNITS.length && step >= UNITS[chosen + 1]![1]) ++chosen;
  // 2,400 ms says less than 2.4 s: a larger unit while three decimals suffice.
  while (
    chosen + 1 < UNITS.length &&
    reach >= UNITS[chosen + 1]![1] &&
    step >= UNITS[chosen + 1]![1] / 1000
  ) {
    ++chosen;
  }
  const [name, unit] = UNITS[chosen]!;
  return ns === 0 ? `0 ${name}` : inUnit(ns, name, unit, step);
}

function inUnit(ns: number, name: string, unit: number, step: number): string {
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  const [whole = '0', part] = (ns / unit).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped}${part === undefined ? '' : `.${part}`} ${name}`;
}

// What has no length, such as a log line, takes a nanosecond where something must be chosen.
export function isMoment(length: number): boolean {
  return length <= 1;
}

// A moment with the digits that tell it from others as far away as something of this length: three
// digits of 109 ms do not place a microsecond.
export function instantText(ns: number, length: number): string {
  const finest = isMoment(length) ? 1000 : 10 ** Math.max(0, Math.floor(Math.log10(length)) - 1);
  const size = Math.abs(ns);
  const [name, unit] = UNITS[size < 1e3 ? 0 : size < 1e6 ? 1 : size < 1e10 ? 2 : 3]!;
  return inUnit(ns, name, unit, Math.min(finest, 1e6));
}

const PART = 20; // of the view: what is shorter is hard to see in it
const AROUND = 4; // times its length around an event
const LEAST_AROUND = 2000; // ns

// What to show of an event: the width that is shown, where it stands out in it, else its own.
export function viewAround(start: number, length: number, shown: View): View {
  const size = shown.to - shown.from;
  const fits = length < size && length > size / PART;
  const wide = fits ? size : Math.max(length * AROUND, LEAST_AROUND);
  const middle = start + length / 2;
  return {from: middle - wide / 2, to: middle + wide / 2};
}
