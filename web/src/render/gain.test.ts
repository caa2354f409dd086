import {expect, it} from 'vitest';
import {gainText} from './gain';

it.each([
  [{low_ns: 0, high_ns: 2e6}, null, 'at most 2.00 ms per step (20.0 %)'],
  [{low_ns: 1e6, high_ns: 2e6}, null, '1.00 ms to 2.00 ms per step (10.0 % to 20.0 %)'],
  [
    {low_ns: 0, high_ns: 2e6},
    {low_ns: 0, high_ns: 5e5},
    'at most 2.00 ms per step (20.0 %); at most 500 µs once those above are mended',
  ],
  [{low_ns: 0, high_ns: 2e6}, {low_ns: 0, high_ns: 2e6}, 'at most 2.00 ms per step (20.0 %)'],
])('%j, then %j: %s', (gain, remaining, text) => {
  expect(gainText(gain, remaining, 1e7)).toBe(text);
});

it('says of how long a step where findings are of different ones', () => {
  const gain = {low_ns: 0, high_ns: 2e6};
  expect(gainText(gain, null, 1e7, null, true)).toBe(
    'at most 2.00 ms per step (20.0 % of 10.0 ms)',
  );
});

it('a pause that comes more often makes the step longer, too', () => {
  const text = gainText({low_ns: 4e6, high_ns: 1e7}, null, 1e7, {low_ns: 5e6, high_ns: 7e6});
  expect(text).toBe('4.00 ms to 10.0 ms per step (50.0 % to 71.4 %)');
});
