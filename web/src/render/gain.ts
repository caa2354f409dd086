// What a finding would bring, in the words of the command line.
import {durationText, shareText} from './numbers';

interface Gain {
  low_ns: number;
  high_ns: number;
}

// recorded: of the recorded steps, where it is about what happens now and then. What comes more
// often than there makes the step longer, too: of how long a one? namesStep: not all findings are of the same steps.
export function gainText(
  gain: Gain,
  remaining: Gain | null,
  step: number,
  recorded: Gain | null = null,
  namesStep = false,
): string {
  const {low_ns: low, high_ns: high} = gain;
  const others = recorded === null ? 0 : step - (recorded.low_ns + recorded.high_ns) / 2;
  const share = (part: number) => {
    if (recorded === null) return shareText(part / step);
    const longer = Math.max(1, others + part);
    return `${shareText(part / longer)} of ${durationText(Math.round(longer))}`;
  };
  const ofStep = namesStep && recorded === null ? ` of ${durationText(step)}` : '';
  const each = recorded === null ? 'step' : 'step of a long training';
  const all =
    low === 0
      ? `at most ${durationText(high)} per ${each} (${share(high)}${ofStep})`
      : `${durationText(low)} to ${durationText(high)} per ${each} (${share(low)} to ${share(high)}${ofStep})`;
  return remaining !== null && remaining.high_ns < high
    ? `${all}; at most ${durationText(remaining.high_ns)} once those above are mended`
    : all;
}
