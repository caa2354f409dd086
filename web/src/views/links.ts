// From a number to what it is about: a row of a table, or a piece of evidence, leads to the place
// in the timeline.
import {numberAt, type Row, type Table, valueAt} from '../api/tables';
import {isOfRecording} from '../render/cells';
import {href} from '../state/route';
import {readyRun} from '../state/run';

export interface Link {
  href: string;
  about: string;
}

export function eventHref(rank: number, window: number, ordinal: number): string {
  return href('timeline', {event: `${rank}.${window}.${ordinal}`});
}

export function stepHref(rank: number, window: number, step: number): string {
  return href('timeline', {step: `${rank}.${window}.${step}`});
}

export function nameHref(name: string, rank: number | null): string {
  return href('timeline', {q: name, ...(rank === null ? {} : {rank})});
}

// A stretch in the time of its window, exact: a clock may count from 1970.
export function stretchHref(rank: number, window: number, start: string, length: number): string {
  return href('timeline', {at: `${rank}.${window}.${start}.${length}`});
}

const LENGTHS = ['length_ns', 'gap_ns', 'duration_ns', 'step_ns'];

function stretchLink(table: Table, row: Row, rank: number): Link | null {
  const window = numberAt(table, row, 'window');
  const start = valueAt(table, row, 'start_ns');
  const length = LENGTHS.map((name) => numberAt(table, row, name)).find((value) => value !== null);
  if (window === null || length === undefined || length === null) return null;
  if (typeof start !== 'number' && typeof start !== 'bigint') return null;
  return {
    href: stretchHref(rank, window, start.toString(), length),
    about: 'shows this time in the timeline',
  };
}

// What was recorded at a moment, which stands in the timeline, too.
function momentLink(table: Table, row: Row): Link | null {
  const offset = readyRun.peek()?.time?.recorded_offset_ns ?? null;
  const at = row[table.shape.columns.findIndex(isOfRecording)];
  if (offset === null || (typeof at !== 'number' && typeof at !== 'bigint')) return null;
  const length = LENGTHS.map((name) => numberAt(table, row, name)).find((value) => value !== null);
  return {
    href: href('timeline', {at: `${BigInt(at) + offset}.${length ?? 0}`}),
    about: 'shows this moment in the timeline',
  };
}

// Columns that hold names as they stand in the trace.
const NAMES = new Set([
  'name',
  'kernel',
  'operator',
  'host_op',
  'op',
  'call',
  'range',
  'after',
  'doing',
  'module',
  'frame',
]);

export function evidenceLink(table: Table, row: Row): Link | null {
  const moment = momentLink(table, row);
  if (moment !== null) return moment;
  const rank = numberAt(table, row, 'rank');
  const window = numberAt(table, row, 'window') ?? 0;
  const event = numberAt(table, row, 'event') ?? numberAt(table, row, 'ordinal');
  if (rank !== null && event !== null) {
    return {href: eventHref(rank, window, event), about: 'shows it in the timeline'};
  }
  if (rank !== null) {
    const stretch = stretchLink(table, row, rank);
    if (stretch !== null) return stretch;
  }
  const lead = table.shape.columns.find((column) => column.type === 'text');
  if (lead === undefined || !NAMES.has(lead.name)) return null;
  const name = valueAt(
    table,
    row,
    table.shape.columns.some((c) => c.name === 'operator') && lead.name === 'call'
      ? 'operator'
      : lead.name,
  );
  if (typeof name !== 'string' || name === '' || name.startsWith('(')) return null;
  return {href: nameHref(name, rank), about: 'finds it in the timeline'};
}
