import {describe, expect, it} from 'vitest';
import type {Table} from '../api/tables';
import {tableCsv, tableJson} from './copying';

const table: Table = {
  shape: {
    name: 't',
    about: '',
    drawing: null,
    columns: [
      {name: 'name', type: 'text', unit: '', about: ''},
      {name: 'time_ns', type: 'integer', unit: 'ns', about: ''},
    ],
  },
  rows: [
    ['a "b", c', 9007199254740993n],
    [null, 1.25],
  ],
};

describe('copies have full precision', () => {
  it('as CSV', () => {
    expect(tableCsv(table.shape.columns, table.rows)).toBe(
      'name,time_ns\n"a ""b"", c",9007199254740993\n,1.25\n',
    );
  });
  it('as JSON', () => {
    expect(JSON.parse(tableJson(table, table.rows))).toEqual([
      {name: 'a "b", c', time_ns: '9007199254740993'},
      {name: null, time_ns: 1.25},
    ]);
  });
});
