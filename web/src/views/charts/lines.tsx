// Lines over time or steps, drawn by uPlot, in the colours of the theme.
import {useEffect, useRef} from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type {Unit} from '../../api/tables';
import {figureText} from '../../render/cells';
import {BYTE_STEPS} from '../../render/scale';
import {theme} from '../../state/theme';

export interface Line {
  name: string;
  colour: string; // "var(--s0)"
  values: readonly (number | null)[];
}
export interface LinesProps {
  label: string;
  x: readonly number[];
  xUnit: Unit;
  unit: Unit;
  lines: readonly Line[];
  steps?: boolean; // a value holds until the next one
  fromZero?: boolean; // amounts, of which the share that is filled matters
  gaps?: boolean; // lines have their own times: what lies between two values is no hole
  height?: number;
}

// There is no step 0.5.
const WHOLE_STEPS = Array.from({length: 10}, (_, i) => 10 ** i).flatMap((one) => [
  one,
  2 * one,
  5 * one,
]);

function resolved(colour: string): string {
  const name = /var\((--\w+)\)/.exec(colour)?.[1];
  return name === undefined
    ? colour
    : getComputedStyle(document.documentElement).getPropertyValue(name);
}

export function Lines({
  label,
  x,
  xUnit,
  unit,
  lines,
  steps = false,
  fromZero = false,
  gaps = false,
  height = 190,
}: LinesProps) {
  const place = useRef<HTMLDivElement>(null);
  const colours = theme.value;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const axis = {
      stroke: resolved('var(--faint)'),
      grid: {stroke: resolved('var(--line)'), width: 1},
      ticks: {show: false},
      font: '11.5px Inter, system-ui',
    };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: {show: true, live: true},
        cursor: {y: false, points: {size: 6}},
        scales: {
          x: {time: false},
          ...(fromZero
            ? {y: {range: (_: uPlot, _low: number, high: number) => [0, high * 1.06]}}
            : {}),
        },
        axes: [
          {
            ...axis,
            size: 30,
            values: (_, ticks) => ticks.map((v) => figureText(v, xUnit, true)),
            ...(xUnit === 'number' || xUnit === 'count' ? {incrs: [...WHOLE_STEPS]} : {}),
          },
          {
            ...axis,
            size: 72,
            values: (_, ticks) => ticks.map((v) => figureText(v, unit)),
            ...(unit === 'bytes' ? {incrs: [...BYTE_STEPS]} : {}),
          },
        ],
        series: [
          {label: 'at', value: (_, v) => (v === null ? '–' : figureText(v, xUnit, true))},
          ...lines.map((line) => ({
            label: line.name,
            stroke: resolved(line.colour),
            width: 1.5,
            points: {show: x.length < 60},
            spanGaps: gaps,
            value: (_: uPlot, v: number | null) => (v === null ? '–' : figureText(v, unit)),
            ...(steps ? {paths: uPlot.paths.stepped!({align: 1})} : {}),
          })),
        ],
      },
      [x as number[], ...lines.map((line) => line.values as (number | null)[])],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({width: element.clientWidth, height}));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [x, lines, colours, height]);
  return <div class="lines" ref={place} role="img" aria-label={label} />;
}
