import {describe, expect, it} from 'vitest';
import type {Table} from '../api/tables';
import {isOverTime, timeCurves} from './over_time';

const table: Table = {
  shape: {
    name: 'load',
    about: '',
    drawing: {chart: 'line', x: 'time_ns', y: ['share'], group: 'of', parts: ''},
    columns: [
      {name: 'of', type: 'text', unit: '', about: ''},
      {name: 'time_ns', type: 'integer', unit: 'instant', about: ''},
      {name: 'share', type: 'real', unit: 'share', about: ''},
    ],
  },
  rows: [
    ['CPU', 0, 0.5],
    ['CPU', 20, 0.25],
    ['GPU 0', 10, 1],
    ['GPU 0', 20, 0],
    ['GPU 0', 30, null],
  ],
};

describe('curves over time', () => {
  it('lie on one axis, with holes where a line has no value', () => {
    expect(timeCurves(table)).toEqual({
      x: [0, 10, 20],
      names: ['CPU', 'GPU 0'],
      values: [
        [0.5, null, 0.25],
        [null, 1, 0],
      ],
    });
  });
  it('are distinct from lines over steps', () => {
    expect(isOverTime(table)).toBe(true);
    const steps = {...table.shape, drawing: {...table.shape.drawing!, x: 'share'}};
    expect(isOverTime({...table, shape: steps})).toBe(false);
  });
});
