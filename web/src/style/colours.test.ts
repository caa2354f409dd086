// The colours of the series for eyes that lack the red or the green cones: every two of them stay
// apart. Seen as Viénot, Brettel and Mollon (1999) work it out, compared in CIELAB.
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';

type Triple = readonly [number, number, number];

const css = readFileSync(new URL('theme.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = css.split(':root[data-theme="dark"]');

function series(theme: string): Triple[] {
  return Array.from({length: 8}, (_, i) => {
    const found = new RegExp(`--s${i}: #([0-9a-f]{6})`, 'i').exec(theme);
    const value = Number.parseInt(found![1]!, 16);
    return [value >> 16, (value >> 8) & 255, value & 255] as const;
  });
}

const linear = (channel: number) => {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

const times = (matrix: readonly Triple[], [x, y, z]: Triple): Triple =>
  matrix.map(([a, b, c]) => a * x + b * y + c * z) as unknown as Triple;

// In linear RGB; the lost cone is worked out from the other two.
const EYES: readonly (readonly [string, readonly Triple[]])[] = [
  [
    'all cones',
    [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
  ],
  [
    'no red cones',
    [
      [0.11238, 0.88762, 0],
      [0.11238, 0.88762, 0],
      [0.00401, -0.00401, 1],
    ],
  ],
  [
    'no green cones',
    [
      [0.29275, 0.70725, 0],
      [0.29275, 0.70725, 0],
      [-0.02234, 0.02234, 1],
    ],
  ],
];

function lab(colour: Triple): Triple {
  const [x, y, z] = times(
    [
      [0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047],
      [0.2126, 0.7152, 0.0722],
      [0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883],
    ],
    colour,
  ).map((t) =>
    t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27) * (t / 116) + 16 / 116,
  ) as unknown as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe.each([
  ['light', light],
  ['dark', dark],
])('series of the %s theme', (_, theme) => {
  it.each(EYES)('are distinct with %s', (_, matrix) => {
    const seen = series(theme).map(([r, g, b]) =>
      lab(times(matrix, [linear(r), linear(g), linear(b)])),
    );
    for (let i = 0; i < seen.length; ++i) {
      for (let j = 0; j < i; ++j) {
        const apart = Math.hypot(...seen[i]!.map((value, k) => value - seen[j]![k]!));
        expect(apart, `--s${j} and --s${i}`).toBeGreaterThan(8);
      }
    }
  });
});
