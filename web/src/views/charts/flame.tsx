// A flame graph: the outermost on top, as wide as its time; a click makes one fill the width.
import {useMemo} from 'preact/hooks';
import {columnIndex, numberAt, type Table, valueAt} from '../../api/tables';
import {figureText, shortName} from '../../render/cells';
import {flameBoxes, zoomedBoxes} from '../../render/flame';
import {shareText} from '../../render/numbers';
import {refine, route} from '../../state/route';

const ROW = 24;

function tint(name: string): string {
  let hash = 7;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return `f${hash % 6}`;
}

export function Flame({table, value, label}: {table: Table; value: string; label: string}) {
  const name = table.shape.drawing?.x ?? '';
  const unit = table.shape.columns[columnIndex(table.shape, value)]?.unit ?? '';
  const rows = useMemo(
    () => table.rows.filter((row) => numberAt(table, row, 'depth') !== null),
    [table],
  );
  const boxes = useMemo(
    () =>
      flameBoxes(
        rows.map((row) => numberAt(table, row, 'depth')!),
        rows.map((row) => numberAt(table, row, value) ?? 0),
      ),
    [rows, table, value],
  );
  if (boxes.length === 0) return <p class="soft small">Nothing here took any time.</p>;
  // Which part fills the width stands in the address, by its table, rank and row.
  const key = `${table.shape.name}.${numberAt(table, rows[0], 'rank') ?? ''}.`;
  const inside = route.value.params.inside ?? '';
  const to = inside.startsWith(key) ? Number(inside.slice(key.length)) : null;
  const setTo = (row: number | null) => refine({inside: row === null ? null : `${key}${row}`});
  const target = to === null ? undefined : boxes.find((box) => box.row === to);
  const shown = target === undefined ? boxes : zoomedBoxes(boxes, target);
  const depth = Math.max(...shown.map((box) => box.depth)) + 1;
  const total = rows.reduce(
    (sum, row) =>
      sum + (numberAt(table, row, 'depth') === 0 ? (numberAt(table, row, value) ?? 0) : 0),
    0,
  );
  return (
    <div class="flame-frame">
      <div class="flame" style={{height: `${depth * ROW}px`}} role="group" aria-label={label}>
        {shown
          .filter((box) => box.width > 0.0008)
          .map((box) => {
            const row = rows[box.row]!;
            const text = String(valueAt(table, row, name) ?? '(none)');
            const time = numberAt(table, row, value) ?? 0;
            const path = valueAt(table, row, 'path');
            return (
              <button
                type="button"
                key={box.row}
                class={tint(text)}
                aria-label={`${text}, ${figureText(time, unit)}`}
                data-tip={`${typeof path === 'string' ? path : text}\n${figureText(time, unit)} · ${shareText(time / total)} of all`}
                style={{
                  left: `${box.left * 100}%`,
                  width: `${box.width * 100}%`,
                  top: `${box.depth * ROW}px`,
                }}
                onClick={() => setTo(to === box.row || box.depth === 0 ? null : box.row)}
              >
                {box.width > 0.03 ? shortName(text) : ''}
              </button>
            );
          })}
      </div>
      {target !== undefined && (
        <button type="button" class="button" onClick={() => setTo(null)}>
          Show all again
        </button>
      )}
    </div>
  );
}
