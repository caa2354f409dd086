// The arithmetic of a roofline: log-log places, and the roof itself, min(peak, bandwidth × intensity).

export interface LogAxis {
  readonly from: number; // powers of ten
  readonly to: number;
  readonly at: number; // pixels
  readonly until: number;
}

export function logAxis(values: readonly number[], at: number, until: number): LogAxis {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return {from: 0, to: 1, at, until};
  const low = Math.floor(Math.log10(Math.min(...positive)) - 0.1);
  const high = Math.ceil(Math.log10(Math.max(...positive)) + 0.1);
  return {from: low, to: Math.max(high, low + 1), at, until};
}

export function place(value: number, axis: LogAxis): number {
  const share = (Math.log10(value) - axis.from) / (axis.to - axis.from);
  return axis.at + share * (axis.until - axis.at);
}

export function decades(axis: LogAxis): number[] {
  return Array.from({length: axis.to - axis.from + 1}, (_, i) => 10 ** (axis.from + i));
}

// Where the slope of the memory meets the ceiling of the arithmetic: FLOPs per byte.
export function ridge(peakFlops: number, bytesPerSecond: number): number {
  return peakFlops / bytesPerSecond;
}

export function roofAt(intensity: number, peakFlops: number, bytesPerSecond: number): number {
  return Math.min(peakFlops, intensity * bytesPerSecond);
}
