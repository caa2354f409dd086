// Remarks of an answer of which one table is shown: why another one is empty is said where that one
// would stand.
const EMPTY = /\bthe table (\w+) is empty\b/;

export function remarksOf(texts: readonly string[], table: string): string[] {
  return texts.filter((text) => {
    const empty = EMPTY.exec(text);
    return empty === null || empty[1] === table;
  });
}
