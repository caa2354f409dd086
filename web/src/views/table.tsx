// A table of an analysis: sorted by a click on a heading, filtered as one types, copied in full
// precision. Columns that say the same in every row stand above it once; of many columns the first
// ones are shown.
import {
  type ColumnDef,
  createTable,
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  type Row as ModelRow,
  type SortingState,
} from '@tanstack/table-core';
import {useMemo, useState} from 'preact/hooks';
import type {Cell, Row, Table} from '../api/tables';
import {
  cellText,
  columnAbout,
  columnTitle,
  isNumber,
  shortName,
  sinceZero,
  type Zero,
  zeroOf,
} from '../render/cells';
import {counted, durationText} from '../render/numbers';
import {refine, route} from '../state/route';
import {recordedOffset, runTime} from '../state/run';
import {sortOf, withSort} from '../state/sorting';
import {CopyButtons} from './copy_buttons';
import {Cut} from './cut';
import {evidenceLink} from './links';
import {layOut, roomsForNames} from './table_columns';

const FIRST_ROWS = 100;

function compare(a: Cell, b: Cell): number {
  if (typeof a === 'string' && typeof b === 'string')
    return a.localeCompare(b, 'en', {numeric: true});
  const left = Array.isArray(a) ? a.length : Number(a);
  const right = Array.isArray(b) ? b.length : Number(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

// The order stands in the address; of a column that this table does not have it is none.
function useSorting({shape}: Table): [SortingState, (next: SortingState) => void] {
  const text = route.value.params.sort ?? '';
  const sort = sortOf(text, shape.name);
  const isKnown = sort !== null && shape.columns.some((column) => column.name === sort.id);
  return [
    isKnown ? [sort] : [],
    (next) => refine({sort: withSort(text, shape.name, next[0] ?? null)}),
  ];
}

function useModel(table: Table, columns: readonly number[], filter: string) {
  const [sorting, setSorting] = useSorting(table);
  const definitions = useMemo<ColumnDef<Row, Cell>[]>(
    () =>
      table.shape.columns.map((column, i) => ({
        id: column.name,
        accessorFn: (row) => (row[i] ?? undefined) as Cell,
        sortDescFirst: isNumber(column),
        enableGlobalFilter: column.type === 'text',
        // Rows without a value stay at the end either way.
        sortUndefined: 'last',
        sortingFn: (a: ModelRow<Row>, b: ModelRow<Row>) => compare(a.original[i]!, b.original[i]!),
      })),
    [table],
  );
  const model = createTable<Row>({
    data: table.rows as Row[],
    columns: definitions,
    state: {sorting, globalFilter: filter, columnPinning: {}, columnVisibility: {}},
    onSortingChange: (change) =>
      setSorting(typeof change === 'function' ? change(sorting) : change),
    onStateChange: () => {},
    renderFallbackValue: null,
    globalFilterFn: (row, id, wanted: string) => {
      const value = row.getValue<Cell>(id);
      return typeof value === 'string' && value.toLowerCase().includes(wanted.toLowerCase());
    },
    getColumnCanGlobalFilter: (column) =>
      table.shape.columns.some((c) => c.name === column.id && c.type === 'text'),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
  });
  const rows = model.getRowModel().rows.map((row) => row.original);
  const heads = columns.map((i) => model.getColumn(table.shape.columns[i]!.name)!);
  return {rows, heads};
}

export interface DataTableProps {
  table: Table;
  caption?: string;
  chosen?: readonly string[]; // columns to begin with, else the first ones
  filter?: string;
  onFilter?: (text: string) => void;
  most?: number;
}

export function DataTable({
  table,
  caption,
  chosen,
  filter,
  onFilter,
  most = FIRST_ROWS,
}: DataTableProps) {
  const [own, setOwn] = useState('');
  const [all, setAll] = useState(false);
  const [shown, setShown] = useState(most);
  const typed = filter ?? own;
  const layout = useMemo(() => layOut(table, chosen), [table, chosen]);
  const columns = all ? layout.all : layout.first;
  const {rows, heads} = useModel(table, columns, typed);
  const recorded = recordedOffset.value;
  const time = runTime.value;
  const zero = useMemo(() => zeroOf(table, recorded, time), [table, recorded, time]);
  const hasText = table.shape.columns.some((column) => column.type === 'text');
  const rooms = useMemo(() => roomsForNames(table, columns), [table, columns]);
  const name = caption ?? table.shape.about;
  return (
    <div class="data">
      <div class="tools data-tools">
        <span class="soft small grow">
          {layout.lifted
            .map(
              (i) =>
                `${columnTitle(table.shape.columns[i]!, table.shape.columns)} ${cellText(table.shape.columns[i]!, table.rows[0]![i]!)}`,
            )
            .join(' · ')}
          {layout.lifted.length > 0 && ' · '}
          {typed === ''
            ? counted(rows.length, 'row')
            : `${rows.length} of ${counted(table.rows.length, 'row')}`}
          {zero.first !== 0n &&
            ` · times count from the first (${durationText(Number(zero.first))} on the recording's own clock)`}
        </span>
        {hasText && table.rows.length > 8 && (
          <input
            class="field filter"
            type="search"
            placeholder="Filter rows"
            aria-label={`Filter the rows of ${name}`}
            value={typed}
            onInput={(event) => (onFilter ?? setOwn)(event.currentTarget.value)}
          />
        )}
        {layout.all.length > layout.first.length && (
          <button type="button" class="button" aria-pressed={all} onClick={() => setAll(!all)}>
            {all ? 'Fewer columns' : `All ${layout.all.length} columns`}
          </button>
        )}
        <CopyButtons table={table} rows={rows} />
      </div>
      <section class="scroll" aria-label={name}>
        <table>
          <caption class="hidden">{name}</caption>
          <thead>
            <tr>
              {columns.map((i, at) => {
                const column = table.shape.columns[i]!;
                const sorted = heads[at]!.getIsSorted();
                return (
                  <th
                    key={column.name}
                    scope="col"
                    class={isNumber(column) && column.unit !== 'number' ? 'n' : ''}
                    aria-sort={
                      sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : 'none'
                    }
                  >
                    <button
                      type="button"
                      data-tip={columnAbout(column)}
                      onClick={() => heads[at]!.toggleSorting()}
                    >
                      {columnTitle(column, table.shape.columns)}
                      <i aria-hidden="true">
                        {sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : ''}
                      </i>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, r) => (
              <tr key={r}>
                {columns.map((i) => (
                  <DataCell
                    key={i}
                    table={table}
                    row={row}
                    at={i}
                    zero={zero}
                    depth={layout.depth}
                    leads={i === layout.lead}
                    linked={i === layout.linked}
                    room={rooms.get(i)}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > shown && (
        <button type="button" class="button more" onClick={() => setShown(shown + 10 * FIRST_ROWS)}>
          {`Show ${Math.min(rows.length - shown, 10 * FIRST_ROWS)} more of ${rows.length}`}
        </button>
      )}
      {rows.length === 0 && (
        <p class="soft small none">
          {typed === '' ? 'This table has no rows.' : 'No row contains that text.'}
        </p>
      )}
    </div>
  );
}

interface DataCellProps {
  table: Table;
  row: Row;
  at: number;
  zero: Zero;
  depth: number;
  leads: boolean;
  linked: boolean; // leads to the timeline
  room: number | undefined; // for long names, as a share of the table
}

// Stacks of Python are deep: far down a level moves its name by little, so that it stays in its column.
function indentOf(level: number): number {
  return 16 * Math.min(level, 6) + 3 * Math.max(level - 6, 0);
}

function DataCell({table, row, at, zero, depth, leads, linked, room}: DataCellProps) {
  const column = table.shape.columns[at]!;
  const value = sinceZero(column, row[at] ?? null, zero);
  const text = cellText(column, value);
  if (column.unit === 'share' && typeof value === 'number') {
    const width = `${Math.min(Math.max(value, 0), 1) * 100}%`;
    return (
      <td class={`n share${value === 0 ? ' zero' : ''}`}>
        <span>{text}</span>
        <i aria-hidden="true">
          <b style={{width}} />
        </i>
      </td>
    );
  }
  const link = linked && value !== null ? evidenceLink(table, row) : null;
  if (isNumber(column)) {
    const nothing = link === null && (value === 0 || value === null);
    return (
      <td class={column.unit === 'number' ? undefined : `n${nothing ? ' zero' : ''}`}>
        {link === null ? (
          text
        ) : (
          <a href={link.href} data-tip={link.about}>
            {text}
          </a>
        )}
      </td>
    );
  }
  const name = typeof value === 'string' ? <Cut text={shortName(text)} /> : text;
  const indent = leads && depth >= 0 ? Number(row[depth] ?? 0) : 0;
  const style = {
    ...(indent > 0 ? {paddingLeft: `${10 + indentOf(indent)}px`} : {}),
    ...(room !== undefined ? {width: `${(100 * room).toFixed(1)}%`} : {}),
  };
  const look = `t${leads ? ' lead' : ''}${room !== undefined ? ' long' : ''}`;
  return (
    <td class={`${look}${value === null ? ' zero' : ''}`} style={style}>
      {link === null ? (
        <span data-tip={text.length > 40 ? text : undefined}>{name}</span>
      ) : (
        <a href={link.href} data-tip={`${text}\n${link.about}`}>
          {name}
        </a>
      )}
    </td>
  );
}
