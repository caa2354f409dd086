import {expect, it} from 'vitest';
import type {Table} from '../api/tables';
import {roomsForNames} from './table_columns';

function table(rows: Table['rows']): Table {
  const column = (name: string, type: string) => ({name, type, unit: '' as const, about: ''});
  return {
    shape: {
      name: 'kernels',
      about: '',
      drawing: null,
      columns: [column('name', 'text'), column('stack', 'text'), column('calls', 'integer')],
    },
    rows,
  };
}

it('columns of short names take what they need', () => {
  expect(roomsForNames(table([['aten::mm', 'a', 1]]), [0, 1, 2]).size).toBe(0);
});

it('long names get room by their length, and together no more than there is', () => {
  const rooms = roomsForNames(table([['k'.repeat(60), 's'.repeat(240), 1]]), [0, 1, 2]);
  expect(rooms.get(0)).toBeCloseTo(0.2);
  expect(rooms.get(1)).toBeCloseTo(0.8);
  expect(rooms.has(2)).toBe(false);
});

it('one name that is much longer than the others does not widen its column', () => {
  const rows: Table['rows'] = Array.from({length: 20}, () => ['aten::mm', 'a', 1]);
  rows[7] = ['k'.repeat(200), 'a', 1];
  expect(roomsForNames(table(rows), [0, 1, 2]).size).toBe(0);
});
