import {describe, expect, it} from 'vitest';
import {Pixels, packed} from './pixels';

const WHITE = packed('rgb(255 255 255)');
const BLUE = packed('rgb(0 0 255)');
const RED = packed('rgb(200 0 0)');

function screen(width: number, height: number, ratio = 1): Pixels {
  const pixels = new Pixels();
  pixels.resize(width, height, ratio);
  pixels.clear(WHITE);
  return pixels;
}
const at = (pixels: Pixels, x: number, y: number) => [
  ...pixels.bytes.subarray(4 * (y * pixels.width + x), 4 * (y * pixels.width + x) + 4),
];

describe('pixels', () => {
  it('colours are red, green, blue and opaque in memory', () => {
    const pixels = screen(1, 1);
    pixels.rect(packed('rgb(1 2 3)'), 0, 0, 1, 1);
    pixels.finish();
    expect(at(pixels, 0, 0)).toEqual([1, 2, 3, 255]);
  });
  it('a rectangle covers its pixels and no others', () => {
    const pixels = screen(6, 4);
    pixels.rect(RED, 1, 1, 3, 2);
    pixels.finish();
    const seen = [...pixels.data].map((value) => (value === RED ? '#' : '.')).join('');
    expect(seen).toBe('......' + '.###..' + '.###..' + '......');
  });
  it('half a pixel is half the colour', () => {
    const pixels = screen(3, 1);
    pixels.rect(BLUE, 0.5, 0, 1, 1);
    pixels.finish();
    expect(at(pixels, 0, 0)[0]).toBeGreaterThan(125);
    expect(at(pixels, 0, 0)[0]).toBeLessThan(130);
    expect(at(pixels, 0, 0).slice(2)).toEqual([255, 255]);
    expect(at(pixels, 2, 0)).toEqual([255, 255, 255, 255]);
  });
  it('many slivers of a pixel add up to it', () => {
    const pixels = screen(1, 1);
    for (let i = 0; i < 10; ++i) pixels.rect(BLUE, i / 10, 0, 0.1, 1);
    pixels.finish();
    expect(at(pixels, 0, 0)[0]).toBeLessThan(110);
  });
  it('rows keep what other rows drew, in any order', () => {
    const pixels = screen(4, 3);
    pixels.rect(RED, 0, 0, 2, 3);
    pixels.rect(BLUE, 2, 1, 2, 1);
    pixels.rect(BLUE, 3, 0, 1, 1);
    pixels.finish();
    const name = (value: number) => (value === RED ? 'r' : value === BLUE ? 'b' : '.');
    expect([...pixels.data].map(name).join('')).toBe('rr.b' + 'rrbb' + 'rr..');
  });
  it('what is outside does not matter', () => {
    const pixels = screen(2, 2);
    pixels.rect(RED, -5, -5, 3, 3);
    pixels.rect(RED, 7, 0, 3, 1);
    pixels.rect(RED, 0, 9, 1, 1);
    pixels.rect(RED, Number.NaN, 0, 1, 1);
    pixels.finish();
    expect([...pixels.data].every((value) => value === WHITE)).toBe(true);
  });
  it('device pixels are finer than those of the page', () => {
    const pixels = screen(2, 1, 2);
    pixels.rect(RED, 0.5, 0, 0.5, 1);
    pixels.finish();
    expect([...pixels.data].map((value) => (value === RED ? '#' : '.')).join('')).toBe('.#...#..');
  });
});
