// Which ranks are drawn where there is no room for all: the first ones, and in any case the slowest,
// for which one looks.
import {type Answer, numberAt, tableOf} from '../api/tables';
import {listText} from './numbers';

// Of the longest average step; null where there are no steps.
export function slowestRank(steps: Answer): number | null {
  const times = tableOf(steps, 'times');
  let slowest: number | null = null;
  let longest = Number.NEGATIVE_INFINITY;
  for (const row of times?.rows ?? []) {
    const mean = numberAt(times!, row, 'mean_ns');
    if (mean === null || mean <= longest) continue;
    longest = mean;
    slowest = numberAt(times!, row, 'rank');
  }
  return slowest;
}

export function drawnRanks(
  ranks: readonly (number | null)[],
  slowest: number | null,
  most: number,
): (number | null)[] {
  if (ranks.length <= most) return [...ranks];
  const first = ranks.slice(0, most);
  if (slowest === null || first.includes(slowest) || !ranks.includes(slowest)) return first;
  return [...ranks.slice(0, most - 1), slowest];
}

// What is drawn of all, in words; nothing where it is all of them.
export function drawnText(
  drawn: readonly (number | null)[],
  all: number,
  slowest: number | null,
): string | null {
  if (drawn.length >= all) return null;
  const numbers = drawn.filter((rank) => rank !== null);
  const which = slowest === null ? '' : `; rank ${slowest} is the slowest`;
  return `Drawn are ${drawn.length} of ${all} ranks: ${listText(numbers)}${which}.`;
}
