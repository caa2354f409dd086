// Numbers and gains read as on the command line: by examples that its tests read as well
// (src/report/findings/texts_of_the_page_test.cpp).
import {readFileSync} from 'node:fs';
import {expect, it} from 'vitest';
import {gainText} from './gain';
import {bytesText, countText, durationText, numberText, rateText, shareText} from './numbers';

function examples(name: string): string[][] {
  const url = new URL(`../../../tests/fixtures/${name}`, import.meta.url);
  const lines = readFileSync(url, 'utf8').trimEnd().split('\n').slice(1);
  return lines.map((line) => line.split('\t'));
}

const WRITTEN: Record<string, (value: number) => string> = {
  duration: durationText,
  bytes: bytesText,
  rate: rateText,
  count: countText,
  share: shareText,
  number: numberText,
};

it.each(examples('number_texts.tsv'))('%s %s is %s', (kind, value, text) => {
  expect(WRITTEN[kind!]!(Number(value))).toBe(text);
});

it.each(examples('gain_texts.tsv'))(
  '%s to %s, then %s, of %s, recorded %s to %s, %s: %s',
  (...row) => {
    const nanos = (text: string | undefined) => (text === '-' ? null : Number(text));
    const range = (low: number | null, high: number | null) =>
      low === null || high === null ? null : {low_ns: low, high_ns: high};
    const [low, high, remaining, step, recordedLow, recordedHigh, namesStep] = row.map(nanos);
    const text = gainText(
      {low_ns: low!, high_ns: high!},
      range(0, remaining!),
      step!,
      range(recordedLow!, recordedHigh!),
      namesStep === 1,
    );
    expect(text).toBe(row[7]);
  },
);
