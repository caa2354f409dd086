import {expect, it} from 'vitest';
import {sortOf, withSort} from './sorting';

it('each table of a page has its order in the address', () => {
  const one = withSort('', 'steps', {id: 'step_ns', desc: true});
  const both = withSort(one, 'gaps', {id: 'length_ns', desc: false});
  expect(both).toBe('steps:-step_ns,gaps:length_ns');
  expect(sortOf(both, 'steps')).toEqual({id: 'step_ns', desc: true});
  expect(sortOf(both, 'gaps')).toEqual({id: 'length_ns', desc: false});
  expect(sortOf(both, 'step')).toBeNull();
  expect(withSort(both, 'steps', {id: 'step', desc: false})).toBe('gaps:length_ns,steps:step');
  expect(withSort(both, 'gaps', null)).toBe('steps:-step_ns');
});

it.each(['steps', 'steps:', 'steps:-', ',,'])('%j is no order', (text) =>
  expect(sortOf(text, 'steps')).toBeNull(),
);
