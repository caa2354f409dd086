import {expect, it} from 'vitest';
import {remarksOf} from './remarks';

const ALL = [
  'Shapes of inputs were not recorded (record_shapes=True would), so the table shapes is empty.',
  'Call stacks were not recorded (with_stack=True would), so the table stacks is empty.',
  'The trace has no GPU work.',
];

it('why a table is empty is said where that table would stand', () => {
  expect(remarksOf(ALL, 'operators')).toEqual([ALL[2]]);
  expect(remarksOf(ALL, 'shapes')).toEqual([ALL[0], ALL[2]]);
  expect(remarksOf(ALL, 'stacks')).toEqual([ALL[1], ALL[2]]);
});
