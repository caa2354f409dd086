// Analyses as the server describes them, and their answers: tables of typed columns with a unit and
// a line of meaning each. Pages draw from these and know no analysis by heart.
import {type Decoder, list, number, object, or, orNull, record, text} from './json';

export type Unit =
  | ''
  | 'number'
  | 'count'
  | 'ns'
  | 'instant'
  | 'bytes'
  | 'share'
  | 'bytes_per_second'
  | 'per_second';

export interface Column {
  name: string;
  type: string; // integer, real, bool, text, list
  unit: Unit;
  about: string;
}

export interface Drawing {
  chart: string; // bars, stack, histogram, line, tree
  x: string;
  y: string[];
  group: string;
  parts: string;
}

export interface TableShape {
  name: string;
  about: string;
  columns: Column[];
  drawing: Drawing | null;
}

export interface Parameter {
  name: string;
  type: string;
  defaultValue: string;
  about: string;
  choices: string[];
}

export interface Analysis {
  name: string;
  title: string;
  question: string;
  needs: string;
  parameters: Parameter[];
  tables: TableShape[];
}

export type Cell = number | bigint | string | boolean | readonly number[] | null;
export type Row = readonly Cell[]; // in the order of the shape's columns

export interface Table {
  shape: TableShape;
  rows: Row[];
}

export interface Answer {
  analysis: Analysis;
  remarks: string[];
  tables: Table[];
}

const UNITS: Readonly<Record<string, Unit>> = {
  '': '',
  number: 'number',
  count: 'count',
  ns: 'ns',
  "ns on the recording's own clock": 'instant',
  bytes: 'bytes',
  'share, 0 to 1': 'share',
  'bytes per second': 'bytes_per_second',
  'per second': 'per_second',
};
const unit: Decoder<Unit> = (json, where) => UNITS[text(json, where)] ?? '';

const shape = object<TableShape>({
  name: text,
  about: or(text, ''),
  columns: list(object<Column>({name: text, type: text, unit, about: or(text, '')})),
  drawing: orNull(
    object<Drawing>({
      chart: text,
      x: or(text, ''),
      y: or(list(text), []),
      group: or(text, ''),
      parts: or(text, ''),
    }),
  ),
});

const parameter: Decoder<Parameter> = (json, where) => {
  const source = record(json, where);
  const value = source.default;
  return {
    name: text(source.name, `${where}.name`),
    type: text(source.type, `${where}.type`),
    defaultValue: value === null || value === undefined ? '' : String(value),
    about: or(text, '')(source.about, `${where}.about`),
    choices: or(list(text), [])(source.choices, `${where}.choices`),
  };
};

export const analyses: Decoder<Analysis[]> = (json, where) =>
  list(
    object<Analysis>({
      name: text,
      title: text,
      question: or(text, ''),
      needs: or(text, 'trace'),
      parameters: or(list(parameter), []),
      tables: list(shape),
    }),
  )(record(json, where).analyses, `${where}.analyses`);

function cell(column: Column): Decoder<Cell> {
  return (json, where) => {
    if (json === null || json === undefined) return null;
    if (column.type === 'text') return text(json, where);
    if (typeof json === 'boolean') return json;
    if (Array.isArray(json)) return list(number)(json, where);
    // Times on a clock that began in 1970 keep every digit.
    if (typeof json === 'string') return BigInt(json);
    return number(json, where);
  };
}

const remark: Decoder<string> = (json, where) =>
  typeof json === 'string' ? json : text(record(json, where).text, `${where}.text`);

export function answer(analysis: Analysis): Decoder<Answer> {
  return (json, where) => {
    const source = record(json, where);
    const tables = record(source.tables, `${where}.tables`);
    const found: Table[] = [];
    for (const each of analysis.tables) {
      const rows = tables[each.name];
      if (rows === undefined) continue;
      const cells = each.columns.map(cell);
      found.push({
        shape: each,
        rows: list((entry, at) => {
          const values = record(entry, at);
          return each.columns.map((column, i) =>
            cells[i]!(values[column.name], `${at}.${column.name}`),
          );
        })(rows, `${where}.${each.name}`),
      });
    }
    return {
      analysis,
      remarks: or(list(remark), [])(source.remarks, `${where}.remarks`),
      tables: found,
    };
  };
}

export function columnIndex(shape: TableShape, name: string): number {
  return shape.columns.findIndex((column) => column.name === name);
}

export function tableOf(answer: Answer, name: string): Table | undefined {
  return answer.tables.find((table) => table.shape.name === name);
}

export function valueAt(table: Table, row: Row | undefined, name: string): Cell {
  return row?.[columnIndex(table.shape, name)] ?? null;
}

export function numberAt(table: Table, row: Row | undefined, name: string): number | null {
  const value = valueAt(table, row, name);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
}
