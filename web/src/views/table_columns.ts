// Which columns of a table are shown, as the command line chooses them: numbers that name something
// and never change are said once, columns without any value are left out, the first text leads.
import type {Table} from '../api/tables';
import {isOfRecording, shortName} from '../render/cells';

const FIRST = 9;

export interface Layout {
  lifted: number[];
  first: number[];
  all: number[];
  lead: number; // the column that says what a row is
  linked: number; // the column that leads to the timeline: a moment, the lead, the number of a step
  depth: number; // the column that indents it; -1: none
}

function neverChanges(table: Table, column: number): boolean {
  if (table.shape.columns[column]!.unit !== 'number' || table.rows.length === 0) return false;
  const value = table.rows[0]![column];
  return value !== null && table.rows.every((row) => row[column] === value);
}

export function layOut(table: Table, chosen?: readonly string[]): Layout {
  const columns = table.shape.columns;
  const depth = columns.findIndex((column) => column.name === 'depth');
  const isTree = depth >= 0 && table.shape.drawing?.chart === 'tree';
  const lead = isTree
    ? columns.findIndex((column) => column.name === table.shape.drawing?.x)
    : columns.findIndex((column) => column.type === 'text');
  const lifted: number[] = [];
  const all: number[] = [];
  columns.forEach((_, i) => {
    const empty = table.rows.every((row) => row[i] === null);
    if (neverChanges(table, i)) lifted.push(i);
    else if ((i === lead || !empty) && !(isTree && i === depth)) all.push(i);
  });
  if (all.length === 0) all.push(...lifted.splice(0));
  const wanted = chosen?.map((name) => columns.findIndex((column) => column.name === name));
  const first = wanted ? wanted.filter((i) => all.includes(i)) : all.slice(0, FIRST);
  const moment = columns.findIndex(isOfRecording);
  const step = columns.findIndex((column) => column.name === 'step');
  const linked = moment >= 0 ? moment : lead >= 0 ? lead : step;
  return {lifted, first, all, lead, linked, depth: isTree ? depth : -1};
}

const LONG_NAME = 44; // letters
const LETTER = 0.0065; // of the width of a table that fills a window
const LOOKED_AT = 100; // rows

// Columns of long names share the room that figures leave, by how long most of their names are; a
// few that are longer still lose their middle.
export function roomsForNames(table: Table, columns: readonly number[]): Map<number, number> {
  const lengths = new Map<number, number>();
  for (const i of columns) {
    if (table.shape.columns[i]!.type !== 'text') continue;
    const letters = table.rows
      .slice(0, LOOKED_AT)
      .map((row) => (typeof row[i] === 'string' ? shortName(row[i]).length : 0))
      .sort((a, b) => a - b);
    const most = letters[Math.floor((letters.length - 1) * 0.9)] ?? 0;
    if (most > LONG_NAME) lengths.set(i, most);
  }
  const sum = [...lengths.values()].reduce((total, length) => total + length, 0);
  return new Map(
    [...lengths].map(([i, length]) => [i, Math.min(length * LETTER, length / Math.max(sum, 1))]),
  );
}
