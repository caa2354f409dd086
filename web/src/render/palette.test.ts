import {describe, expect, it} from 'vitest';
import {luminance, SHADES, shadeOf} from './palette';

describe('shades', () => {
  it('are chosen by the name alone and stay inside the palette', () => {
    const names = Array.from({length: 500}, (_, i) => `aten::op_${i * 7919}_${'x'.repeat(i % 40)}`);
    const shades = names.map(shadeOf);
    expect(names.map(shadeOf)).toEqual(shades);
    expect(Math.min(...shades)).toBe(0);
    expect(Math.max(...shades)).toBe(SHADES - 1);
  });
});

describe('luminance', () => {
  it('is that of the eye', () => {
    expect(luminance([255, 255, 255])).toBeCloseTo(1);
    expect(luminance([0, 0, 0])).toBe(0);
    expect(luminance([0, 255, 0])).toBeGreaterThan(luminance([255, 0, 0]));
  });
});
