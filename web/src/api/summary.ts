// The first lines of the report: what to show before anything else, in its words and numbers.
import {bool, type Decoder, list, number, object, or, orNull, text} from './json';

export interface Summary {
  facts: {name: string; text: string}[];
  step: {mean_ns: number; of: string} | null; // of: recorded or traced
  recorded_steps: string | null; // "30 on each of 2 ranks"
  traced: boolean; // not so: processes recorded themselves and no profiler ran
  traced_steps: string | null;
  guessed_steps: boolean; // nothing marks them: they are what repeats on the device
  traced_mark: string | null; // what to say of traced steps where there are others
  length_ns: number;
}

// No steps are marked in the trace: the whole recording counts as one, which must not be taken
// for a step of the training.
export function isUnmarked(first: Summary): boolean {
  return first.traced && first.traced_steps === null && first.recorded_steps === null;
}

export const summary: Decoder<Summary> = object<Summary>({
  facts: or(list(object<Summary['facts'][number]>({name: text, text})), []),
  step: orNull(object<NonNullable<Summary['step']>>({mean_ns: number, of: text})),
  recorded_steps: orNull(text),
  traced: bool,
  traced_steps: orNull(text),
  guessed_steps: or(bool, false),
  traced_mark: orNull(text),
  length_ns: number,
});
