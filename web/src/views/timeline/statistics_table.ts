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
