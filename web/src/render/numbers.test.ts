import {describe, expect, it} from 'vitest';
import {
  bytesText,
  countText,
  durationText,
  listText,
  numberText,
  rateText,
  shareText,
  shortNumberText,
} from './numbers';

describe('numbers read as on the command line', () => {
  it.each([
    [0, '0 ns'],
    [7, '7 ns'],
    [999, '999 ns'],
    [1_000, '1.00 µs'],
    [9_994, '9.99 µs'],
    [9_996, '10.0 µs'],
    [99_949, '99.9 µs'],
    [99_960, '100 µs'],
    [999_499, '999 µs'],
    [999_600, '1.00 ms'],
    [241_300_000, '241 ms'],
    [1_204_000_000, '1.20 s'],
    [59_900_000_000, '59.9 s'],
    [60_000_000_000, '1.00 min'],
    [9_000_000_000_000, '2.50 h'],
    [86_400_000_000_000, '1.00 d'],
    [-1_500, '-1.50 µs'],
  ])('%d ns is %s', (ns, text) => expect(durationText(ns)).toBe(text));

  it('bytes are binary and rates decimal', () => {
    expect(bytesText(1023)).toBe('1023 B');
    expect(bytesText(543_061)).toBe('530 KiB');
    expect(bytesText(1_048_064)).toBe('1.00 MiB');
    expect(bytesText(150_109_880_320)).toBe('140 GiB');
    expect(rateText(1.2545e9)).toBe('1.25 GB/s');
  });

  it('percentages never claim all or nothing by rounding', () => {
    expect([0, 1, 0.99999, 0.00001, 0.998].map(shareText)).toEqual([
      '0 %',
      '100 %',
      '>99.9 %',
      '<0.1 %',
      '99.8 %',
    ]);
  });

  it('counts have separators, also below zero', () => {
    expect(countText(1234567)).toBe('1,234,567');
    expect(countText(-12345)).toBe('-12,345');
    expect(countText(999)).toBe('999');
  });

  it('plain numbers keep three digits', () => {
    expect([0, 0.0004, 0.0042, 1.234, 12.34, 1234.5].map(numberText)).toEqual([
      '0',
      '<0.001',
      '0.0042',
      '1.23',
      '12.3',
      '1,235',
    ]);
    expect(shortNumberText(3_200_000_000_000)).toBe('3.2 T');
  });

  it('lists become ranges', () => {
    expect(listText([0, 1, 2, 3, 7, 9, 10])).toBe('0–3, 7, 9, 10');
    expect(listText([1, 3, 5, 7, 9, 11])).toBe('1, 3, 5, 7 and 2 more');
    expect(listText([])).toBe('–');
  });
});
