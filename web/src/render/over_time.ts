// Curves of one table on one axis: the values of its grouping column are the lines.
import {columnIndex, numberAt, type Table, valueAt} from '../api/tables';

export interface TimeCurves {
  x: number[];
  names: string[];
  values: (number | null)[][]; // of each name, at each x
}

// Whether a table is drawn as lines over time.
export function isOverTime(table: Table): boolean {
  const drawing = table.shape.drawing;
  if (drawing === null || drawing.chart !== 'line') return false;
  return table.shape.columns[columnIndex(table.shape, drawing.x)]?.unit === 'instant';
}

export function timeCurves(table: Table): TimeCurves {
  const drawing = table.shape.drawing!;
  const y = drawing.y[0] ?? '';
  const names: string[] = [];
  const at = new Map<number, (number | null)[]>();
  for (const row of table.rows) {
    const time = numberAt(table, row, drawing.x);
    const value = numberAt(table, row, y);
    if (time === null || value === null) continue;
    const name = drawing.group === '' ? y : String(valueAt(table, row, drawing.group));
    let line = names.indexOf(name);
    if (line < 0) line = names.push(name) - 1;
    const there = at.get(time);
    if (there === undefined) at.set(time, Object.assign([], {[line]: value}));
    else there[line] = value;
  }
  const x = [...at.keys()].sort((a, b) => a - b);
  return {x, names, values: names.map((_, line) => x.map((time) => at.get(time)![line] ?? null))};
}
