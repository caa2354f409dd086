// What a finding would bring, in the words of the command line.
import {durationText, shareText} from './numbers';

interface Gain {
  low_ns: number;
  high_ns: number;
}

export function gainText(gain: Gain, remaining: Gain | null, step: number): string {
  const {low_ns: low, high_ns: high} = gain;
  const share = (part: number) => shareText(part / step);
  const all =
    low === 0
      ? `at most ${durationText(high)} per step (${share(high)})`
      : `${durationText(low)} to ${durationText(high)} per step (${share(low)} to ${share(high)})`;
  return remaining !== null && remaining.high_ns < high
    ? `${all}; at most ${durationText(remaining.high_ns)} once those above are mended`
    : all;
}
