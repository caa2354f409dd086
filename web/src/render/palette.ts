// The colours of the timeline as numbers and texts: each kind of event in four shades, chosen by its
// name, so that neighbours differ; faint ones for what a search does not mean.
import {causeVariable, kindVariable} from './colours';

// Frames around the work, which should not outshine it.
const QUIET = new Set(['annotation', 'gpu_annotation', 'python', 'profiler', 'other']);

type Rgb = readonly [number, number, number];
export const SHADES = 4;

export interface Palette {
  slices: string[]; // kind × shade
  faint: string[];
  inks: string[]; // of the text on them
  causes: string[];
  levels: string[]; // of log lines, by level / 10
  ink: string;
  soft: string;
  line: string;
  card: string;
  sunk: string;
  accent: string;
  counter: string;
  counterFill: string;
}

// Whatever way a colour is written ("red", "#fff"), a canvas says it as "#rrggbb".
function parser(): (colour: string) => Rgb {
  const context = document.createElement('canvas').getContext('2d')!;
  return (colour) => {
    context.fillStyle = colour.trim();
    const digits = String(context.fillStyle).slice(1);
    return [0, 2, 4].map((i) => Number.parseInt(digits.slice(i, i + 2), 16)) as unknown as Rgb;
  };
}
function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return [0, 1, 2].map((i) => Math.round(a[i]! * (1 - share) + b[i]! * share)) as unknown as Rgb;
}
function text(colour: Rgb): string {
  return `rgb(${colour[0]} ${colour[1]} ${colour[2]})`;
}
// Light as the eye sees it, 0 to 1 (WCAG's relative luminance).
export function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function readPalette(kinds: readonly string[], causes: readonly string[]): Palette {
  const style = getComputedStyle(document.documentElement);
  const parse = parser();
  const variable = (name: string) => parse(style.getPropertyValue(name));
  const card = variable('--card');
  const white: Rgb = [255, 255, 255];
  const black: Rgb = [0, 0, 0];
  const dark = luminance(card) < 0.2;
  const slices: string[] = [];
  const faint: string[] = [];
  const inks: string[] = [];
  for (const kind of kinds) {
    const base = variable(kindVariable(kind));
    // Calm: large areas are a step towards the page.
    const calm = mix(base, card, QUIET.has(kind) ? 0.5 : dark ? 0.3 : 0.28);
    for (let shade = 0; shade < SHADES; ++shade) {
      const colour = mix(calm, shade % 2 === 0 ? white : black, [0, 0.07, 0.16, 0.14][shade]!);
      slices.push(text(colour));
      faint.push(text(mix(colour, card, 0.78)));
      inks.push(luminance(colour) > 0.22 ? '#0d1216' : '#f6f8fa');
    }
  }
  const levels = ['--s7', '--s7', '--s2', '--s1', '--s5', '--bad'].map((name) =>
    text(variable(name)),
  );
  return {
    slices,
    faint,
    inks,
    causes: causes.map((cause) => text(mix(variable(causeVariable(cause)), card, 0.35))),
    levels,
    ink: text(variable('--ink')),
    soft: text(variable('--faint')),
    line: text(variable('--line')),
    card: text(card),
    sunk: text(variable('--sunk')),
    accent: text(variable('--accent')),
    counter: text(variable('--s0')),
    counterFill: text(mix(variable('--s0'), card, 0.78)),
  };
}

export function shadeOf(name: string): number {
  let hash = 5381;
  for (let i = 0; i < name.length; ++i) hash = (hash * 33 + name.charCodeAt(i)) >>> 0;
  return ((hash ^ (hash >>> 7)) >>> 0) % SHADES;
}
