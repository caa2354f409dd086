// Columns that stand: steps, or the bins of a histogram, in their order; parts are stacked. One path
// per part draws any number of columns.
import {useState} from 'preact/hooks';
import type {Unit} from '../../api/tables';
import {figureText} from '../../render/cells';
import {byteStep, niceStep} from '../../render/scale';
import {useWidth} from '../width';

export interface ColumnPart {
  name: string;
  colour: string;
  values: readonly number[];
}
export interface ColumnsProps {
  label: string;
  names: readonly string[]; // of the columns
  parts: readonly ColumnPart[];
  unit: Unit;
  height?: number;
  onPick?: (column: number) => void;
}

const LEFT = 64;
const BOTTOM = 22;

export function Columns({label, names, parts, unit, height = 190, onPick}: ColumnsProps) {
  const [at, setAt] = useState<number | null>(null);
  const [frame, width] = useWidth<HTMLDivElement>();
  const n = names.length;
  const sums = names.map((_, i) => parts.reduce((sum, part) => sum + (part.values[i] ?? 0), 0));
  const top = Math.max(...sums, 1e-30) * 1.04;
  const inner = height - BOTTOM - 6;
  const step = (width - LEFT) / Math.max(n, 1);
  const gap = step > 6 ? Math.min(step * 0.22, 10) : step > 3 ? 1 : 0;
  const wide = Math.min(step - gap, 64);
  const yOf = (value: number) => 6 + inner * (1 - value / top);
  const xOf = (i: number) => LEFT + i * step + (step - wide) / 2;
  const paths = parts.map(() => '');
  for (let i = 0; i < n; ++i) {
    let below = 0;
    parts.forEach((part, p) => {
      const value = part.values[i] ?? 0;
      if (value <= 0) return;
      const y = yOf(below + value);
      paths[p] +=
        `M${xOf(i).toFixed(2)} ${y.toFixed(2)}h${wide.toFixed(2)}v${(yOf(below) - y).toFixed(2)}h-${wide.toFixed(2)}z`;
      below += value;
    });
  }
  const grid: number[] = [];
  const rise = unit === 'bytes' ? byteStep(top / 5) : niceStep(top / 5);
  for (let value = 0; value <= top; value += rise) grid.push(value);
  const every = Math.max(1, Math.ceil(n / Math.floor((width - LEFT) / 76)));
  const columnAt = (x: number) => Math.min(Math.max(Math.floor(x / step), 0), n - 1);
  const tip =
    at === null
      ? undefined
      : `${names[at]}: ${figureText(sums[at]!, unit)}\n${
          parts.length > 1
            ? parts
                .filter((part) => (part.values[at] ?? 0) > 0)
                .map((part) => `${part.name} ${figureText(part.values[at]!, unit)}`)
                .join(' · ')
            : onPick === undefined
              ? ''
              : 'click to see it'
        }`;
  return (
    <div ref={frame}>
      <svg
        class={`columns${onPick ? ' picks' : ''}`}
        width={width}
        height={height}
        role="img"
        aria-label={label}
      >
        {grid.map((value) => (
          <g key={value}>
            <line x1={LEFT} x2={width} y1={yOf(value)} y2={yOf(value)} class="rule" />
            <text x={LEFT - 8} y={yOf(value) + 4} text-anchor="end">
              {value === 0 ? '0' : figureText(value, unit)}
            </text>
          </g>
        ))}
        {at !== null && (
          <rect x={LEFT + at * step} y={6} width={step} height={inner} class="under" />
        )}
        {parts.map((part, p) => (
          <path key={part.name} d={paths[p]} style={{fill: part.colour}} />
        ))}
        {names.map((name, i) =>
          i % every === 0 ? (
            <text key={i} x={LEFT + (i + 0.5) * step} y={height - 6} text-anchor="middle">
              {name}
            </text>
          ) : null,
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the pointer; the table of the same rows has the links */}
        <rect
          class="catch"
          x={LEFT}
          y={0}
          width={width - LEFT}
          height={height - BOTTOM}
          data-tip={tip}
          onPointerMove={(event) =>
            setAt(columnAt(event.clientX - event.currentTarget.getBoundingClientRect().left))
          }
          onPointerLeave={() => setAt(null)}
          onClick={() => at !== null && onPick?.(at)}
        />
      </svg>
    </div>
  );
}
