import {describe, expect, it} from 'vitest';
import type {Answer} from '../api/tables';
import {drawnRanks, drawnText, slowestRank} from './ranks';

const twelve = Array.from({length: 12}, (_, rank) => rank);

function steps(means: readonly (number | null)[]): Answer {
  const column = (name: string) => ({name, type: 'integer', unit: '' as const, about: ''});
  return {
    analysis: {name: 'steps', title: '', question: '', needs: 'trace', parameters: [], tables: []},
    remarks: [],
    tables: [
      {
        shape: {
          name: 'times',
          about: '',
          drawing: null,
          columns: [column('rank'), column('mean_ns')],
        },
        rows: means.map((mean, rank) => [rank, mean]),
      },
    ],
  };
}

describe('of more ranks than there is room for', () => {
  it('the slowest is always drawn', () => {
    expect(drawnRanks(twelve, 10, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 10]);
    expect(drawnRanks(twelve, 3, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(drawnRanks(twelve, null, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(drawnRanks([0, 1], 1, 8)).toEqual([0, 1]);
  });
  it('what is left out is said', () => {
    expect(drawnText([0, 1, 2, 10], 12, 10)).toBe(
      'Drawn are 4 of 12 ranks: 0–2, 10; rank 10 is the slowest.',
    );
    expect(drawnText([0, 1], 2, 1)).toBeNull();
  });
});

describe('the slowest rank', () => {
  it('has the longest average step', () => {
    expect(slowestRank(steps([16, null, 32, 16]))).toBe(2);
    expect(slowestRank(steps([16, 16]))).toBe(0);
  });
  it('is unknown without steps', () => expect(slowestRank(steps([]))).toBeNull());
});
