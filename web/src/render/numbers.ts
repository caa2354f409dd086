// Numbers as people read them: three significant digits with a unit that fits, the same texts as
// the command line prints. What is copied as CSV or JSON never passes through here.

type Step = readonly [name: string, size: number];

const TIMES: readonly Step[] = [
  ['ns', 1],
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['min', 6e10],
  ['h', 3.6e12],
  ['d', 8.64e13],
];
const SIZES: readonly Step[] = [
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
  ['PiB', 1024 ** 5],
];
const RATES: readonly Step[] = [
  ['B/s', 1],
  ['kB/s', 1e3],
  ['MB/s', 1e6],
  ['GB/s', 1e9],
];

export const NOTHING = '–';

function threeDigits(value: number): string {
  if (value < 9.995) return value.toFixed(2);
  if (value < 99.95) return value.toFixed(1);
  return value.toFixed(0);
}

// The largest unit the value reaches once it is rounded: 999.6 µs is 1.00 ms.
function withUnit(value: number, units: readonly Step[]): string {
  let chosen = 0;
  while (chosen + 1 < units.length) {
    const step = units[chosen + 1]![1] / units[chosen]![1];
    if (value / units[chosen]![1] < step - (step > 900 ? 0.5 : 0)) break;
    ++chosen;
  }
  const [name, size] = units[chosen]!;
  const scaled = value / size;
  return `${chosen === 0 ? scaled.toFixed(0) : threeDigits(scaled)} ${name}`;
}

function signed(value: number, text: (size: number) => string): string {
  return value < 0 ? `-${text(-value)}` : text(value);
}

export function durationText(ns: number): string {
  return signed(ns, (v) => withUnit(v, TIMES));
}
export function bytesText(bytes: number): string {
  return signed(bytes, (v) => withUnit(v, SIZES));
}
export function rateText(bytesPerSecond: number): string {
  return signed(bytesPerSecond, (v) => withUnit(v, RATES));
}
export function countText(count: number): string {
  return signed(Math.round(count), (v) => v.toString().replace(/\B(?=(\d{3})+$)/g, ','));
}

export function shareText(share: number): string {
  if (share === 0) return '0 %';
  if (Math.abs(share - 1) < 1e-9) return '100 %';
  // Rounding must not claim all or nothing.
  if (share > 0.999 && share < 1) return '>99.9 %';
  if (share > 0 && share < 0.001) return '<0.1 %';
  return `${(100 * share).toFixed(1)} %`;
}

export function numberText(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return '0';
  if (size < 0.001) return value > 0 ? '<0.001' : '>-0.001';
  if (size < 0.01) return String(Number(value.toPrecision(2)));
  if (size < 9.995) return value.toFixed(2);
  if (size < 99.95) return value.toFixed(1);
  if (size < 1e15) return countText(value);
  return value.toExponential(2);
}

// 3.2 trillion is easier to read than fifteen digits: for axes only.
export function shortNumberText(value: number): string {
  const steps: readonly Step[] = [
    ['', 1],
    ['k', 1e3],
    ['M', 1e6],
    ['G', 1e9],
    ['T', 1e12],
    ['P', 1e15],
  ];
  const size = Math.abs(value);
  let chosen = 0;
  while (chosen + 1 < steps.length && size >= steps[chosen + 1]![1] * 0.9995) ++chosen;
  const [name, unit] = steps[chosen]!;
  return `${Number((value / unit).toPrecision(3))}${name === '' ? '' : ` ${name}`}`;
}

export function counted(count: number, singular: string): string {
  return `${countText(count)} ${singular}${count === 1 ? '' : 's'}`;
}

// Ranks and the like: runs of neighbours become ranges, and of many the first ones are shown.
export function listText(values: readonly number[], most = 4): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length; ) {
    let last = i;
    while (last + 1 < values.length && values[last + 1] === values[last]! + 1) ++last;
    if (parts.length === most) return `${parts.join(', ')} and ${values.length - i} more`;
    const between = last === i + 1 ? ', ' : '–';
    parts.push(last > i ? `${values[i]}${between}${values[last]}` : String(values[i]));
    i = last + 1;
  }
  return parts.join(', ') || NOTHING;
}
