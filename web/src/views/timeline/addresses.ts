// What of the timeline stands in the address, and how it is read.

import {numberAt, tableOf} from '../../api/tables';
import type {EventId} from '../../api/tracks';
import type {View} from '../../render/scale';
import {settled} from '../../state/loaded';
import {answerOf, descriptors, readyRun} from '../../state/run';

type Params = Readonly<Record<string, string>>;

function whole(text: string | undefined): number | null {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : null;
}

export function viewOf(params: Params): View | null {
  const from = whole(params.from);
  const to = whole(params.to);
  return from !== null && to !== null && to > from ? {from, to} : null;
}

export function stretchOf(params: Params): View | null {
  const found = /^(\d+)-(\d+)$/.exec(params.sel ?? '');
  if (found === null) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return to > from ? {from, to} : {from, to: from + 1};
}

export function eventIdOf(params: Params): EventId | null {
  const found = /^(\d+)\.(\d+)\.(\d+)$/.exec(params.event ?? '');
  if (found === null) return null;
  return {rank: Number(found[1]), window: Number(found[2]), ordinal: Number(found[3])};
}

// "rank.window.start.length" in the time of the window, or "start.length" in that of the run, as time
// of the run.
export function placeOf(text: string): View | null {
  const own = /^(-?\d+)\.(\d+)$/.exec(text);
  if (own !== null) {
    const start = Number(own[1]);
    const from = Math.max(start, 0);
    return {from, to: Math.max(start + Number(own[2]), from + 1)};
  }
  const found = /^(\d+)\.(\d+)\.(-?\d+)\.(\d+)$/.exec(text);
  const time = readyRun.peek()?.time;
  if (found === null || time === null || time === undefined) return null;
  const offset = time.windows.find(
    (each) => each.rank === Number(found[1]) && each.window === Number(found[2]),
  )?.offset_ns;
  if (offset === undefined) return null;
  const from = Number(BigInt(found[3]!) + offset);
  return {from, to: from + Math.max(Number(found[4]), 1)};
}

// "rank.window.step" as time of the run: the table of steps has the time of the window.
export async function stepStretch(text: string): Promise<View | null> {
  const [rank, window, step] = text.split('.').map(Number);
  const all = await settled(descriptors);
  const run = readyRun.peek();
  if (all.state !== 'ready' || run === null || run.time === null) return null;
  const analysis = all.value.find((each) => each.name === 'steps');
  if (analysis === undefined) return null;
  const found = await settled(answerOf(analysis));
  if (found.state !== 'ready') return null;
  const table = tableOf(found.value, 'steps');
  const row = table?.rows.find(
    (each) =>
      numberAt(table, each, 'rank') === rank &&
      (numberAt(table, each, 'window') ?? 0) === window &&
      numberAt(table, each, 'step') === step,
  );
  const offset = run.time.windows.find(
    (each) => each.rank === rank && each.window === window,
  )?.offset_ns;
  if (table === undefined || row === undefined || offset === undefined) return null;
  const at = table.shape.columns.findIndex((column) => column.name === 'start_ns');
  const start = row[at];
  const length = numberAt(table, row, 'step_ns');
  if ((typeof start !== 'number' && typeof start !== 'bigint') || length === null) return null;
  const from = Number(BigInt(start) + offset);
  return {from, to: from + length};
}
