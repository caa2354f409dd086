// Tables as CSV and JSON with full precision, and the way to the clipboard.
import {signal} from '@preact/signals';
import type {Cell, Column, Row, Table} from '../api/tables';

function csvCell(value: Cell): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.join(' ') : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function tableCsv(columns: readonly Column[], rows: readonly Row[]): string {
  const lines = [columns.map((column) => csvCell(column.name)).join(',')];
  for (const row of rows) lines.push(row.map(csvCell).join(','));
  return `${lines.join('\n')}\n`;
}

export function tableJson(table: Table, rows: readonly Row[]): string {
  const objects = rows.map((row) =>
    Object.fromEntries(
      table.shape.columns.map((column, i) => {
        const value = row[i] ?? null;
        return [column.name, typeof value === 'bigint' ? value.toString() : value];
      }),
    ),
  );
  return JSON.stringify(objects, null, 1);
}

export const toast = signal('');
let clearing: ReturnType<typeof setTimeout> | undefined;

export function showToast(text: string): void {
  toast.value = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    toast.value = '';
  }, 2400);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers refuse it outside of secure pages, such as through a tunnel with a name.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  showToast(`${what} copied`);
}
