// By which columns the tables of a page are sorted, as it stands in the address, since an order is part
// of what one shares: sort=steps:-step_ns,gaps:length_ns; a minus is for the largest first.
export interface Sort {
  readonly id: string; // of the column
  readonly desc: boolean;
}

const entries = (text: string) => text.split(',').filter((entry) => entry !== '');

export function sortOf(text: string, table: string): Sort | null {
  const entry = entries(text).find((each) => each.startsWith(`${table}:`));
  const column = entry?.slice(table.length + 1) ?? '';
  const id = column.replace(/^-/, '');
  return id === '' ? null : {id, desc: column.startsWith('-')};
}

export function withSort(text: string, table: string, sort: Sort | null): string {
  const others = entries(text).filter((each) => !each.startsWith(`${table}:`));
  const own = sort === null ? [] : [`${table}:${sort.desc ? '-' : ''}${sort.id}`];
  return [...others, ...own].join(',');
}
