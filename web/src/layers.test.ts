// Four folders, one direction: what is fetched, what is kept, what is drawn, what is shown. No file
// imports from a folder after its own.
import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {expect, it} from 'vitest';

const ORDER = ['api', 'state', 'render', 'views'];
const SOURCES = import.meta.dirname;

function broken(): string[] {
  const found: string[] = [];
  for (const path of readdirSync(SOURCES, {recursive: true, encoding: 'utf8'})) {
    if (!/\.tsx?$/.test(path) || /\.test\.tsx?$/.test(path)) continue;
    const own = ORDER.indexOf(path.split('/')[0]!);
    if (own < 0) continue;
    const text = readFileSync(join(SOURCES, path), 'utf8');
    for (const [, target] of text.matchAll(/from '(\.[^']+)'/g)) {
      const folder = relative(SOURCES, join(SOURCES, dirname(path), target!)).split('/')[0]!;
      if (ORDER.indexOf(folder) > own) found.push(`${path} imports ${target}`);
    }
  }
  return found;
}

it('folders look one way', () => expect(broken()).toEqual([]));
