// Statistics of a stretch and hits of a search as tables, to be copied like those of the analyses.
import type {Table} from '../../api/tables';
import type {SearchResult, Selection} from '../../api/tracks';

function shape(name: string, columns: readonly (readonly [string, string])[]): Table['shape'] {
  return {
    name,
    about: '',
    drawing: null,
    columns: columns.map(([column, type]) => ({name: column, type, unit: '', about: ''})),
  };
}

const NAMES = shape('names', [
  ['name', 'text'],
  ['kind', 'text'],
  ['count', 'integer'],
  ['total_ns', 'integer'],
  ['self_ns', 'integer'],
  ['longest_ns', 'integer'],
]);

export function namesTable(found: Selection): Table {
  return {
    shape: NAMES,
    rows: found.names.map((each) => [
      each.name,
      each.kind,
      each.count,
      each.total_ns,
      each.self_ns,
      each.longest_ns,
    ]),
  };
}

// Where a name means two things, such as a range of the code and its work on the GPU, what kind each
// is. The recording itself spans all of it, and would lead the list without having done anything.
export function namesOfWork(found: Selection): (Selection['names'][number] & {where: string})[] {
  const work = found.names.filter((each) => each.kind !== 'profiler');
  const seen = new Map<string, number>();
  for (const {name} of work) seen.set(name, (seen.get(name) ?? 0) + 1);
  return work.map((each) => ({
    ...each,
    where:
      (seen.get(each.name) ?? 0) < 2 ? '' : (WHERE[each.kind] ?? each.kind.replaceAll('_', ' ')),
  }));
}

const WHERE: Readonly<Record<string, string>> = {
  annotation: 'on the host',
  gpu_annotation: 'on the GPU',
};

const HITS = shape('hits', [
  ['name', 'text'],
  ['kind', 'text'],
  ['rank', 'integer'],
  ['window', 'integer'],
  ['ordinal', 'integer'],
  ['start_ns', 'integer'],
  ['duration_ns', 'integer'],
]);

export function hitsTable(found: SearchResult): Table {
  return {
    shape: HITS,
    rows: found.hits.map((hit) => [
      hit.name,
      hit.kind,
      hit.rank,
      hit.window,
      hit.ordinal,
      hit.start_ns,
      hit.duration_ns,
    ]),
  };
}
