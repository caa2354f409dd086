import {describe, expect, it} from 'vitest';
import {decades, logAxis, place, ridge, roofAt} from './roofline';

describe('a roofline', () => {
  it('is the memory below the ridge and the arithmetic above', () => {
    const peak = 989e12;
    const memory = 4.8e12;
    const edge = ridge(peak, memory);
    expect(edge).toBeCloseTo(206.04, 1);
    expect(roofAt(edge / 10, peak, memory)).toBeCloseTo(peak / 10, -3);
    expect(roofAt(edge * 10, peak, memory)).toBe(peak);
  });
  it('axes hold all values between whole powers of ten', () => {
    const axis = logAxis([0.5, 200, 0, Number.NaN], 0, 300);
    expect([axis.from, axis.to]).toEqual([-1, 3]);
    expect(decades(axis)).toEqual([0.1, 1, 10, 100, 1000]);
    expect(place(0.1, axis)).toBeCloseTo(0);
    expect(place(10, axis)).toBeCloseTo(150);
    expect(place(1000, axis)).toBeCloseTo(300);
  });
});
