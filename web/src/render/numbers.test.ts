// What stands in tests/fixtures/number_texts.tsv is in shared_texts.test.ts.
import {expect, it} from 'vitest';
import {countText, listText, shortNumberText} from './numbers';

it('counts below zero have separators, too', () => expect(countText(-12345)).toBe('-12,345'));

it('numbers of axes are short', () => expect(shortNumberText(3_200_000_000_000)).toBe('3.2 T'));

it('lists become ranges', () => {
  expect(listText([0, 1, 2, 3, 7, 9, 10])).toBe('0–3, 7, 9, 10');
  expect(listText([1, 3, 5, 7, 9, 11])).toBe('1, 3, 5, 7 and 2 more');
  expect(listText([])).toBe('–');
});
