// Work as points over FLOPs per byte, under what the device can do. Log-log; the size of a point is
// its time.
import {numberAt, type Table, valueAt} from '../../api/tables';
import {shortName} from '../../render/cells';
import {durationText, numberText, shareText, shortNumberText} from '../../render/numbers';
import {decades, logAxis, place, ridge, roofAt} from '../../render/roofline';
import {evidenceLink, nameHref} from '../links';
import {useWidth} from '../width';

const HEIGHT = 430;
const BOUND_COLOURS: Readonly<Record<string, string>> = {
  compute: 'var(--s0)',
  memory: 'var(--s1)',
  latency: 'var(--s7)',
};
const ARITHMETICS = [
  'fp64',
  'fp64_tensor',
  'fp32',
  'fp32_tensor',
  'tf32',
  'fp16',
  'bf16',
  'fp8',
  'int8',
  'fp4',
];

interface Point {
  name: string;
  intensity: number;
  flops: number;
  time: number;
  bound: string;
  tip: string;
  link: string;
}

function points(table: Table): Point[] {
  const name = table.shape.name === 'kernels' ? 'kernel' : 'call';
  return table.rows.flatMap((row) => {
    const intensity = numberAt(table, row, 'intensity');
    const speed = numberAt(table, row, 'tflop_per_second');
    const time = numberAt(table, row, 'device_ns') ?? 0;
    if (intensity === null || speed === null || intensity <= 0 || speed <= 0) return [];
    const text = String(valueAt(table, row, name) ?? '');
    const peak = numberAt(table, row, 'peak_share');
    const memory = numberAt(table, row, 'bandwidth_share');
    return [
      {
        name: text,
        intensity,
        flops: speed * 1e12,
        time,
        link: evidenceLink(table, row)?.href ?? nameHref(text, null),
        bound: String(valueAt(table, row, 'bound') ?? ''),
        tip: `${shortName(text)}\n${durationText(time)} · ${numberText(speed)} TFLOP/s · ${numberText(intensity)} FLOP per byte · ${
          peak === null ? '' : `${shareText(peak)} of the arithmetic`
        }${memory === null ? '' : `, ${shareText(memory)} of the memory`}`,
      },
    ];
  });
}

export function RooflineChart({table, devices}: {table: Table; devices: Table}) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const shown = points(table);
  const device = devices.rows[0];
  const memory = numberAt(devices, device, 'bandwidth_bytes_per_second');
  const used = new Set(table.rows.map((row) => String(valueAt(table, row, 'arithmetic') ?? '')));
  const roofs = ARITHMETICS.filter((name) => used.has(name) || name === 'fp32').flatMap((name) => {
    const peak = numberAt(devices, device, `${name}_tflop_per_second`);
    return peak === null ? [] : [{name, peak: peak * 1e12}];
  });
  if (shown.length === 0)
    return (
      <p class="soft small">
        No row has both its FLOPs and its bytes known, so there is nothing to place.
      </p>
    );
  const edges = memory === null ? [] : roofs.map((roof) => ridge(roof.peak, memory));
  const xAxis = logAxis([...shown.map((point) => point.intensity), ...edges], 74, width - 20);
  const yAxis = logAxis(
    [...shown.map((point) => point.flops), ...roofs.map((roof) => roof.peak)],
    HEIGHT - 44,
    14,
  );
  const longest = Math.max(...shown.map((point) => point.time), 1);
  const low = 10 ** xAxis.from;
  const high = 10 ** xAxis.to;
  return (
    <div ref={frame}>
      <svg
        class="columns roofline"
        width={width}
        height={HEIGHT}
        role="group"
        aria-label="Roofline: speed over FLOPs per byte, both logarithmic"
      >
        {decades(xAxis).map((value) => (
          <g key={value}>
            <line
              class="rule"
              x1={place(value, xAxis)}
              x2={place(value, xAxis)}
              y1={14}
              y2={HEIGHT - 44}
            />
            <text x={place(value, xAxis)} y={HEIGHT - 28} text-anchor="middle">
              {shortNumberText(value)}
            </text>
          </g>
        ))}
        {decades(yAxis).map((value) => (
          <g key={value}>
            <line
              class="rule"
              x1={74}
              x2={width - 20}
              y1={place(value, yAxis)}
              y2={place(value, yAxis)}
            />
            <text x={66} y={place(value, yAxis) + 4} text-anchor="end">
              {`${shortNumberText(value)}${value >= 1e3 ? '' : ' '}`}
            </text>
          </g>
        ))}
        <text x={(width + 54) / 2} y={HEIGHT - 8} text-anchor="middle" class="axis-name">
          FLOPs per byte moved
        </text>
        <text
          transform={`translate(14 ${HEIGHT / 2}) rotate(-90)`}
          text-anchor="middle"
          class="axis-name"
        >
          FLOPs per second
        </text>
        {memory !== null &&
          roofs.map((roof, i) => {
            const edge = edges[i]!;
            const start = `${place(low, xAxis)},${Math.min(place(roofAt(low, roof.peak, memory), yAxis), HEIGHT - 44)}`;
            return (
              <g key={roof.name}>
                <polyline
                  class="roof"
                  points={`${start} ${place(Math.min(edge, high), xAxis)},${place(roofAt(edge, roof.peak, memory), yAxis)} ${place(high, xAxis)},${place(roof.peak, yAxis)}`}
                />
                <text
                  x={place(high, xAxis) - 6}
                  y={place(roof.peak, yAxis) - 6}
                  text-anchor="end"
                  class="roof-name"
                >
                  {`${roof.name} ${numberText(roof.peak / 1e12)} TFLOP/s`}
                </text>
              </g>
            );
          })}
        {shown.map((point, i) => (
          <a
            key={i}
            href={point.link}
            aria-label={`${shortName(point.name)}: ${durationText(point.time)}`}
            data-tip={point.tip}
          >
            <circle
              cx={place(point.intensity, xAxis)}
              cy={place(point.flops, yAxis)}
              r={4 + 12 * Math.sqrt(point.time / longest)}
              style={{fill: BOUND_COLOURS[point.bound] ?? 'var(--s7)'}}
            />
          </a>
        ))}
      </svg>
    </div>
  );
}

export const BOUNDS = [
  {name: 'bound by arithmetic', colour: 'var(--s0)', tip: 'nearer to what the device can compute'},
  {
    name: 'bound by memory',
    colour: 'var(--s1)',
    tip: "nearer to what the device's memory can move",
  },
  {name: 'bound by latency', colour: 'var(--s7)', tip: 'too short to come near either'},
];
