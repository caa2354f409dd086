// What the rules found: claims with evidence, gain and what to change.
import {bool, type Decoder, list, number, object, or, orNull, text} from './json';

export interface Evidence {
  text: string;
  rank: number | null;
  window: number | null;
  step: number | null;
  event: number | null;
}

export interface Gain {
  low_ns: number;
  high_ns: number;
}

export interface Finding {
  rule: string;
  level: string; // critical, warning, notice
  title: string;
  detail: string;
  measured: {
    name: string;
    value: number;
    whole_ns: number; // what a share is a part of; 0: of no length of time
    threshold: number | null;
    unit: string;
  } | null;
  gain_per_step: Gain | null;
  recorded_gain_per_step: Gain | null; // of what happens now and then: in the recorded steps
  remaining_gain_per_step: Gain | null; // once the findings above are mended
  untraced_step_ns: number; // the gain is of steps that were not traced; 0: of traced ones
  confidence: string;
  ranks: number[];
  evidence: Evidence[];
  changes: {why: string; code: string}[];
  verify: string;
}

export interface Findings {
  healthy: boolean;
  step_ns: number | null;
  verdict: string[];
  findings: Finding[];
  not_judged: {rule: string; why: string; record: string}[];
}

const finding = object<Finding>({
  rule: text,
  level: text,
  title: text,
  detail: or(text, ''),
  measured: orNull(
    object<NonNullable<Finding['measured']>>({
      name: text,
      value: number,
      whole_ns: or(number, 0),
      threshold: orNull(number),
      unit: or(text, ''),
    }),
  ),
  gain_per_step: orNull(object<Gain>({low_ns: number, high_ns: number})),
  recorded_gain_per_step: orNull(object<Gain>({low_ns: number, high_ns: number})),
  remaining_gain_per_step: orNull(object<Gain>({low_ns: number, high_ns: number})),
  untraced_step_ns: or(number, 0),
  confidence: or(text, ''),
  ranks: or(list(number), []),
  evidence: or(
    list(
      object<Evidence>({
        text,
        rank: orNull(number),
        window: orNull(number),
        step: orNull(number),
        event: orNull(number),
      }),
    ),
    [],
  ),
  changes: or(
    list(object<{why: string; code: string}>({why: or(text, ''), code: or(text, '')})),
    [],
  ),
  verify: or(text, ''),
});

export const findings: Decoder<Findings> = object<Findings>({
  healthy: or(bool, false),
  step_ns: orNull(number),
  verdict: or(list(text), []),
  findings: list(finding),
  not_judged: or(
    list(
      object<Findings['not_judged'][number]>({rule: text, why: or(text, ''), record: or(text, '')}),
    ),
    [],
  ),
});
