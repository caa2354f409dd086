import {describe, expect, it} from 'vitest';
import {
  byteStep,
  clampView,
  instantText,
  levelFor,
  niceStep,
  nsAt,
  panned,
  ticks,
  tickText,
  tileRange,
  viewAround,
  xOf,
  zoomed,
} from './scale';

describe('moving the view', () => {
  it('zooming keeps the time under the pointer where it is', () => {
    const view = {from: 1000, to: 9000};
    const at = 3000;
    const next = zoomed(view, 0.5, at, 1e6);
    expect(next.to - next.from).toBeCloseTo(4000);
    expect(xOf(at, next, 800)).toBeCloseTo(xOf(at, view, 800));
  });
  it('zooming in and out again is where one began', () => {
    const view = {from: 123_456, to: 987_654};
    const there = zoomed(view, 0.1, 500_000, 1e7);
    const back = zoomed(there, 10, 500_000, 1e7);
    expect(back.from).toBeCloseTo(view.from, 3);
    expect(back.to).toBeCloseTo(view.to, 3);
  });
  it('the view never leaves the run nor becomes empty', () => {
    expect(panned({from: 0, to: 100}, -1e9, 1000).from).toBeGreaterThanOrEqual(-1.1);
    expect(panned({from: 0, to: 100}, 1e9, 1000).to).toBeLessThanOrEqual(1001.1);
    expect(clampView({from: 5, to: 5}, 1e6).to).toBe(5 + 50);
    expect(clampView({from: -1e9, to: 1e12}, 1000).to).toBeLessThan(1100);
  });
  it('pixels and times are inverses', () => {
    const view = {from: 17, to: 5017};
    expect(nsAt(xOf(1234, view, 640), view, 640)).toBeCloseTo(1234);
  });
});

describe('levels and tiles', () => {
  it.each([
    [0.3, 0],
    [1, 0],
    [1.99, 0],
    [2, 1],
    [1023, 9],
    [1024, 10],
    [1e30, 20],
  ])('%d ns a pixel is level %d', (s, level) => expect(levelFor(s, 20)).toBe(level));
  it('tiles cover the view and nothing after the end', () => {
    expect(tileRange({from: 3000, to: 9000}, 1, 1024, 1e6)).toEqual({
      first: 1,
      last: 4,
      size: 2048,
    });
    expect(tileRange({from: -50, to: 9e9}, 1, 1024, 5000)).toEqual({first: 0, last: 2, size: 2048});
  });
});

describe('the axis', () => {
  it('steps are 1, 2 or 5 times a power of ten', () => {
    expect([0.9, 1, 1.1, 3, 7, 40, 100].map(niceStep)).toEqual([1, 1, 2, 5, 10, 50, 100]);
  });
  it('ticks are inside the view and apart', () => {
    const found = ticks({from: 103, to: 1003}, 900, 100);
    expect(found).toEqual([200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  });
  it('labels share a unit and have the digits they need', () => {
    const labels = (step: number, ...places: number[]) =>
      places.map((ns) => tickText(ns, step, Math.max(...places)));
    expect(labels(500_000, 0, 1_500_000)).toEqual(['0 ms', '1.5 ms']);
    expect(labels(200_000_000, 800_000_000, 2_400_000_000)).toEqual(['0.8 s', '2.4 s']);
    expect(labels(1_000_000_000, 2_000_000_000)).toEqual(['2 s']);
    expect(labels(1000, 0)).toEqual(['0 µs']);
    expect(labels(10, 1_234_567_890)).toEqual(['1,234,567.89 µs']);
  });
});

describe('an axis of bytes', () => {
  it('has its places at powers of two', () => {
    expect(byteStep((333 * 1024 ** 2) / 5)).toBe(128 * 1024 ** 2);
    expect(byteStep(1024)).toBe(1024);
    expect(byteStep(0.2)).toBe(1);
  });
});

describe('an event', () => {
  it.each([
    [109_234_567, 34_000, '109.235 ms'],
    [109_234_567, 4_070_000, '109.2 ms'],
    [109_234_567, 1_900, '109.2346 ms'],
    [109_234_567, 0, '109.235 ms'],
    [109_234_567, 20, '109.234567 ms'],
    [34_567, 2_000, '34.6 µs'],
    [4, 0, '4 ns'],
    [3_600_000_000_000, 2_000_000_000, '3,600.000 s'],
  ])('at %i ns that takes %i ns starts at %s', (start, length, text) =>
    expect(instantText(start, length)).toBe(text),
  );
  it('is shown at a width at which it can be seen', () => {
    const whole = {from: 0, to: 765e6};
    const {from, to} = viewAround(100e6, 4.07e6, whole);
    expect(to - from).toBeCloseTo(4 * 4.07e6);
    expect((from + to) / 2).toBeCloseTo(102.035e6);
    expect(viewAround(10, 1, whole)).toEqual({from: 10.5 - 1000, to: 10.5 + 1000});
  });
  it('that stands out in what is shown leaves the width alone', () => {
    const {from, to} = viewAround(100e6, 80e6, {from: 0, to: 765e6});
    expect(to - from).toBe(765e6);
  });
});
