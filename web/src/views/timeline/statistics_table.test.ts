import {expect, it} from 'vitest';
import type {Selection} from '../../api/tracks';
import {namesOfWork, namesTable} from './statistics_table';

const row = (name: string, kind: string, self_ns: number) => ({
  name,
  kind,
  count: 1,
  total_ns: self_ns,
  self_ns,
  longest_ns: self_ns,
});

const found: Selection = {
  from_ns: 0,
  to_ns: 100,
  events: 4,
  names: [
    row('PyTorch Profiler (0)', 'profiler', 100),
    row('forward', 'gpu_annotation', 60),
    row('aten::mm', 'cpu_op', 30),
    row('forward', 'annotation', 20),
  ],
  names_count: 4,
  kinds: [],
  devices: [],
  counters: [],
  lines: [],
  lines_count: 0,
};

it('two things of one name are kept apart, and the recording is not among them', () => {
  expect(namesOfWork(found).map(({name, where}) => [name, where])).toEqual([
    ['forward', 'on the GPU'],
    ['aten::mm', ''],
    ['forward', 'on the host'],
  ]);
});

it('what is copied is all of it', () => expect(namesTable(found).rows.length).toBe(4));
