// The chart that a table's descriptor asks for. One chart per value of the grouping column; a page
// that knows nothing of an analysis still draws it.
import {useMemo} from 'preact/hooks';
import {
  type Cell,
  columnIndex,
  type Drawing,
  numberAt,
  type Row,
  type Table,
  valueAt,
} from '../../api/tables';
import {cellText, columnTitle, figureText, onTimeline, shortName} from '../../render/cells';
import {seriesColours} from '../../render/colours';
import {recordedOffset, runTime} from '../../state/run';
import {type BarLine, Bars, Legend} from './bars';
import {Columns} from './columns';
import {Flame} from './flame';
import {Lines} from './lines';

const MOST_BARS = 8;
const MOST_GROUPS = 4;
const FEW_GROUPS = 2;
const MOST_POINTS = 4000;

interface Group {
  name: string;
  table: Table;
}

function groups(table: Table, drawing: Drawing): Group[] {
  const at = columnIndex(table.shape, drawing.group);
  if (at < 0) return [{name: '', table}];
  const column = table.shape.columns[at]!;
  const byValue = new Map<string, Row[]>();
  for (const row of table.rows) {
    const key = cellText(column, row[at] ?? null);
    const rows = byValue.get(key);
    if (rows === undefined) byValue.set(key, [row]);
    else rows.push(row);
  }
  return [...byValue].map(([key, rows]) => ({
    name: `${columnTitle(column)} ${key}`,
    table: {shape: table.shape, rows},
  }));
}

interface DrawnProps {
  table: Table;
  causes?: boolean;
  value?: string; // what a tree is as wide as, where it may be several things
  few?: boolean; // of many groups the first alone: what follows is more to the point
}

export function Drawn({table: given, causes = false, value, few = false}: DrawnProps) {
  const drawing = given.shape.drawing;
  const offset = recordedOffset.value;
  const time = runTime.value;
  const table = useMemo(() => onTimeline(given, offset, time), [given, offset, time]);
  const found = useMemo(() => (drawing === null ? [] : groups(table, drawing)), [table, drawing]);
  if (drawing === null || drawing.parts !== '') return null;
  // Nothing but zeros is an empty frame; the table says it in less room.
  // Nor does a bar say anything that has none beside it.
  const isLone = (group: Group) => group.table.rows.length === 1;
  if (drawing.chart === 'bars' && drawing.y.length === 1 && found.every(isLone)) return null;
  const isThere = (row: Row) => drawing.y.some((name) => (numberAt(table, row, name) ?? 0) !== 0);
  if (!table.rows.some(isThere)) return null;
  const most = !few ? MOST_GROUPS : found.length > FEW_GROUPS ? 1 : FEW_GROUPS;
  return (
    <>
      {found.slice(0, most).map((group) => (
        <figure key={group.name}>
          {found.length > 1 && <figcaption class="soft small">{shortName(group.name)}</figcaption>}
          <OneChart table={group.table} drawing={drawing} causes={causes} value={value} />
        </figure>
      ))}
      {found.length > most && (
        <p class="soft small">
          {most === 1
            ? `Drawn is ${found[0]!.name}, one of ${found.length}; the table has all.`
            : `The first ${most} of ${found.length} are drawn; the table has all.`}
        </p>
      )}
    </>
  );
}

interface ChartProps {
  table: Table;
  drawing: Drawing;
  causes: boolean;
  value: string | undefined;
}

function OneChart({table, drawing, causes, value}: ChartProps) {
  const ys = drawing.y.filter((name) =>
    table.rows.some((row) => numberAt(table, row, name) !== null),
  );
  if (ys.length === 0) return null;
  const label = `${table.shape.about}: ${ys.map((y) => y.replaceAll('_', ' ')).join(', ')}`;
  if (drawing.chart === 'tree')
    return <Flame table={table} value={value ?? ys[0]!} label={label} />;
  const column = (name: string) => table.shape.columns[columnIndex(table.shape, name)]!;
  const unit = column(ys[0]!).unit;
  // One series needs no colour to differ from others; the grey of what is idle would look switched off.
  const colours = ys.length === 1 ? ['var(--s0)'] : seriesColours(ys, causes);
  const x = column(drawing.x);
  const titles = ys.map((name) => columnTitle(column(name)).replace(/ share$/, ''));
  const legend = ys.length > 1 && (
    <Legend
      items={titles.map((name, i) => ({name, colour: colours[i]!, tip: column(ys[i]!).about}))}
    />
  );
  if (drawing.chart === 'line' || (drawing.chart === 'stack' && table.rows.length > 400)) {
    return (
      <Lines
        label={label}
        x={sampled(table).map((row) => numberAt(table, row, drawing.x) ?? 0)}
        xUnit={x.unit}
        unit={unit}
        steps={drawing.chart === 'line'}
        lines={ys.map((name, i) => ({
          name: titles[i]!,
          colour: colours[i]!,
          values: sampled(table).map((row) => numberAt(table, row, name)),
        }))}
      />
    );
  }
  const isOrdered =
    drawing.chart === 'histogram' ||
    x.name === 'step' ||
    (drawing.chart === 'stack' && isSeries(table, drawing.x));
  if (isOrdered && table.rows.length > 1) {
    const inOrder = drawing.chart === 'bars' ? ys.slice(0, 1) : ys;
    return (
      <>
        <Columns
          label={label}
          unit={unit}
          names={table.rows.map((row) => cellText(x, valueAt(table, row, drawing.x)))}
          parts={inOrder.map((name, i) => ({
            name: titles[i]!,
            colour: colours[i]!,
            values: table.rows.map((row) => numberAt(table, row, name) ?? 0),
          }))}
        />
        {inOrder.length > 1 && legend}
      </>
    );
  }
  const stacked = drawing.chart === 'stack';
  const drawn = table.rows.slice(0, MOST_BARS);
  // What is there once on each device has the name of its device, too.
  const names = drawn.map((row) => cellText(x, valueAt(table, row, drawing.x)));
  const devices = drawn.map((row) => deviceText(valueAt(table, row, 'device')));
  const isOnSeveral = (name: string) =>
    new Set(devices.filter((_, i) => names[i] === name)).size > 1;
  // A bar that is full reads as all of it: shares are drawn as what they are, not against the largest.
  const isOfWhole =
    unit === 'share' &&
    (stacked || table.rows.every((row) => ys.every((y) => (numberAt(table, row, y) ?? 0) <= 1)));
  const lines: BarLine[] = drawn.flatMap((row, at) => {
    const name = names[at]!;
    const heading = x.type === 'text' ? shortName(name) : `${columnTitle(x)} ${name}`;
    const device = devices[at] ?? null;
    const isNamed = device !== null && (x.name === 'rank' || isOnSeveral(name));
    const label = isNamed ? `${heading} · ${device}` : heading;
    const parts = ys.map((y, i) => {
      const value = numberAt(table, row, y) ?? 0;
      return {name: titles[i]!, value, colour: colours[i]!, text: figureText(value, unit)};
    });
    const sum = parts.reduce((total, part) => total + part.value, 0);
    if (stacked) return [{label, parts, text: figureText(sum, unit)}];
    return parts.map((part, i) => ({
      label: ys.length > 1 ? (i === 0 ? label : '') : label,
      parts: [part],
      text: part.text,
    }));
  });
  return (
    <>
      <Bars label={label} lines={lines} {...(isOfWhole ? {whole: 1} : {})} />
      {table.rows.length > MOST_BARS && (
        <p class="faint small">{`The first ${MOST_BARS} of ${table.rows.length} are drawn.`}</p>
      )}
      {legend}
    </>
  );
}

// Of a trace a number, of a snapshot or of memory its name: "cuda:0".
function deviceText(device: Cell): string | null {
  if (device === null) return null;
  return typeof device === 'string' ? device : `GPU ${device}`;
}

// Many rows whose x only grows, such as the events of a history, are a course and no ranking.
function isSeries(table: Table, x: string): boolean {
  const at = table.rows.map((row) => numberAt(table, row, x));
  return (
    at.length > MOST_BARS &&
    at.every((value, i) => value !== null && (i === 0 || value > (at[i - 1] ?? 0)))
  );
}

// More points than pixels cost time and show nothing: each of equal stretches keeps one.
function sampled(table: Table): Row[] {
  const n = table.rows.length;
  if (n <= MOST_POINTS) return table.rows;
  const every = n / MOST_POINTS;
  return Array.from({length: MOST_POINTS}, (_, i) => table.rows[Math.floor(i * every)]!);
}
