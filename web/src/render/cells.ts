// Cells of tables as text, by the unit of their column; and names as short as they can be read.
import {type Cell, type Column, columnIndex, type Table} from '../api/tables';
import {
  bytesText,
  countText,
  durationText,
  listText,
  NOTHING,
  numberText,
  rateText,
  shareText,
} from './numbers';

// "of the kernel; null: all the others together" → "(all the others together)"
function nullText(column: Column): string {
  if (column.type !== 'text') return NOTHING;
  const found = /null: ([^;.]*)/.exec(column.about);
  return found === null ? NOTHING : `(${found[1]})`;
}

export function figureText(value: number, unit: Column['unit'], whole = false): string {
  switch (unit) {
    case 'ns':
    case 'instant':
      return durationText(Math.round(value));
    case 'bytes':
      return bytesText(Math.round(value));
    case 'share':
      return shareText(value);
    case 'bytes_per_second':
      return rateText(value);
    case 'per_second':
      return `${whole ? countText(value) : numberText(value)} /s`;
    case 'count':
      return Number.isInteger(value) ? countText(value) : numberText(value);
    case 'number':
      return String(value);
    case '':
      return whole ? String(value) : numberText(value);
  }
}

export function cellText(column: Column, value: Cell): string {
  if (value === null) return nullText(column);
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'bigint') {
    return column.unit === 'number' || column.unit === ''
      ? value.toString()
      : figureText(Number(value), column.unit, true);
  }
  if (typeof value === 'number') return figureText(value, column.unit, column.type === 'integer');
  return listText(value);
}

const ENDINGS: readonly (readonly [Column['unit'], string])[] = [
  ['ns', '_ns'],
  ['instant', '_ns'],
  ['bytes', '_bytes'],
  ['bytes_per_second', '_bytes_per_second'],
];

// Words that are written in capitals.
const SPELLED: Readonly<Record<string, string>> = {
  sm: 'SM',
  gpu: 'GPU',
  gpus: 'GPUs',
  cpu: 'CPU',
  mfu: 'MFU',
  hfu: 'HFU',
  flops: 'FLOPs',
};

// Of `others`, the columns of its table, none has the same title: "late" and "late time".
export function columnTitle(column: Column, others: readonly Column[] = []): string {
  if (column.name === 'step_ns') {
    return 'step time'; // "step" is its number
  }
  const title = titleAlone(column);
  const isShared = others.some(
    (other) => other.name !== column.name && titleAlone(other) === title,
  );
  if (!isShared || title.length === column.name.length) return title;
  if (column.unit === 'ns' || column.unit === 'instant') return `${title} time`;
  return titleAlone({...column, unit: ''});
}

function titleAlone(column: Column): string {
  let name = column.name;
  for (const [unit, ending] of ENDINGS) {
    if (column.unit === unit && name.length > ending.length && name.endsWith(ending)) {
      name = name.slice(0, -ending.length);
    }
  }
  return name
    .split('_')
    .map((word) => SPELLED[word] ?? word)
    .join(' ')
    .replace('tflop per second', 'TFLOP/s');
}

// "host_ops" → "Host ops", "gpus" → "GPUs"
export function tableTitle(name: string): string {
  const words = name.split(/[_-]/).map((word) => SPELLED[word] ?? word);
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function isNumber(column: Column): boolean {
  return column.type === 'integer' || column.type === 'real';
}

const HOUR = 3_600_000_000_000n;
const SINCE_RECORDING = /since the (first )?recording.* began/;

// Whether its instants count from the first recording of the run; those of a trace have its clock.
export function isOfRecording(column: Column): boolean {
  return (
    column.unit === 'instant' && column.type === 'integer' && SINCE_RECORDING.test(column.about)
  );
}

// What a column means on this page: moments of recordings are shown in the time of the timeline, so
// that a moment has one time on every page.
export function columnAbout(column: Column): string {
  if (!isOfRecording(column)) return column.about;
  return column.about.replace(SINCE_RECORDING, 'in the time of the run, as in the timeline');
}

// Where the instants of a table count from, so that they can be read.
export interface Zero {
  first: bigint; // of a clock that began long ago: the first in the table
  recorded: bigint; // time of the run at which the first recording began
  trace: bigint | null; // what leads from the clock of the trace to the time of the run
}

// How long the run is, and what leads from the clock of each window to its time.
export interface RunTime {
  length_ns: number;
  windows: readonly {rank: number; window: number; offset_ns: bigint}[];
}

export function zeroOf(table: Table, recorded: bigint, time: RunTime | null = null): Zero {
  const trace = traceOffset(table, time);
  return {first: trace === null ? firstInstant(table) : 0n, recorded, trace};
}

function instantsOf(table: Table): bigint[] {
  const {columns} = table.shape;
  return columns.flatMap((column, c) => {
    if (column.unit !== 'instant' || column.type !== 'integer' || isOfRecording(column)) return [];
    return table.rows.flatMap(({[c]: value}) =>
      typeof value === 'number' || typeof value === 'bigint' ? [BigInt(value)] : [],
    );
  });
}

// Nothing where the windows of its rows have several clocks, or where its instants are those of
// another clock, such as that of a memory snapshot: they would lie outside of the run.
function traceOffset(table: Table, time: RunTime | null): bigint | null {
  const instants = instantsOf(table);
  if (time === null || instants.length === 0) return null;
  const [rank, window] = ['rank', 'window'].map((name) => columnIndex(table.shape, name));
  const keys = new Set(table.rows.map((row) => `${row[rank!] ?? ''}.${row[window!] ?? ''}`));
  const isOf = (key: string, each: RunTime['windows'][number]) => {
    const [ofRank, ofWindow] = key.split('.');
    return (
      (ofRank === '' || ofRank === String(each.rank)) &&
      (ofWindow === '' || ofWindow === String(each.window))
    );
  };
  const offsets = new Set(
    time.windows
      .filter((each) => [...keys].some((key) => isOf(key, each)))
      .map((each) => each.offset_ns),
  );
  const [offset] = offsets;
  if (offset === undefined || offsets.size > 1) return null;
  const [length, air] = [BigInt(Math.round(time.length_ns)), 1_000_000n];
  const isInside = (at: bigint) => at + offset >= -air && at + offset <= length + air;
  return instants.every(isInside) ? offset : null;
}

// Instants of a clock that began long ago count from the first in the table.
export function firstInstant(table: Table): bigint {
  let first: bigint | null = null;
  for (const exact of instantsOf(table)) if (first === null || exact < first) first = exact;
  return first !== null && first >= HOUR ? first : 0n;
}

export function sinceZero(column: Column, value: Cell, {first, recorded, trace}: Zero): Cell {
  const by = isOfRecording(column) ? recorded : (trace ?? -first);
  const counts = by !== 0n && column.unit === 'instant' && column.type === 'integer';
  if (!counts || (typeof value !== 'number' && typeof value !== 'bigint')) return value;
  return Number(BigInt(value) + by);
}

// The moments in a table as times of the run, or as the table shows them: for charts.
export function onTimeline(table: Table, recorded: bigint, time: RunTime | null = null): Table {
  const {columns} = table.shape;
  if (!columns.some((column) => column.unit === 'instant')) return table;
  const zero = zeroOf(table, recorded, time);
  return {
    ...table,
    rows: table.rows.map((row) => row.map((value, c) => sinceZero(columns[c]!, value, zero))),
  };
}

// What nearly every kernel's name carries and a reader skips; longer ones first.
const NOISE: readonly (readonly [string, string])[] = [
  ['(anonymous namespace)::', ''],
  ['<unnamed>::', ''],
  ['::operator()() const', ''],
  ['at::native::modern::detail::', ''],
  ['at::native::', ''],
  ['at::cuda::detail::', ''],
  ['at::cuda::', ''],
  ['c10::', ''],
  ['std::', ''],
];

export function shortName(name: string): string {
  if (!name.includes('<') && !name.includes('(')) return name;
  let text = name.replace(/^void /, '');
  for (const [noise, instead] of NOISE) text = text.replaceAll(noise, instead);
  text = text.replaceAll(' >', '>');
  // The list of arguments at the end says nothing that the template did not.
  if (/^[\w:~]+<.*\)$/.test(text)) {
    let depth = 0;
    for (let i = text.length - 1; i > 0; --i) {
      if (text[i] === ')') ++depth;
      if (text[i] === '(' && --depth === 0) {
        text = text.slice(0, i);
        break;
      }
    }
  }
  return text;
}

// The same for names that stand together: where two would look alike, what tells them apart is kept
// instead of the end.
export function middleCuts(texts: readonly string[], most: number): string[] {
  const cuts = texts.map((text) => middleCut(text, most));
  const alike = new Map<string, number[]>();
  cuts.forEach((cut, i) => {
    alike.set(cut, [...(alike.get(cut) ?? []), i]);
  });
  for (const group of alike.values()) {
    const names = group.map((i) => texts[i]!);
    const [first = ''] = names;
    if (names.every((name) => name === first)) continue;
    let same = 0;
    while (names.every((name) => name[same] === first[same])) ++same;
    const head = Math.floor(most * 0.3);
    const from = Math.max(same - 4, head + 1);
    for (const i of group) {
      const rest = texts[i]!.slice(from);
      const room = most - head - 1;
      const cut = rest.length > room ? `${rest.slice(0, room - 1)}…` : rest;
      cuts[i] = `${texts[i]!.slice(0, head)}…${cut}`;
    }
  }
  return cuts;
}

// Names of one family differ at their end: what is too long loses its middle.
export function middleCut(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) * 0.45);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}
