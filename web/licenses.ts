// Writes licenses.txt beside the page: every package that is in the bundle, with its version, its licence and the text of
// it. tools/sbom.py reads the list. The build fails where a package brings no text.
import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import type {Plugin} from 'vite';

const RULE = '-'.repeat(80);

// The folder of the package that a module or a font is from; none for our own sources.
export function packageFolder(id: string): string | undefined {
  return id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/)?.[0];
}

export function licenseText(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (file === undefined || !about.license) throw new Error(`${about.name} has no licence text`);
  const text = readFileSync(join(folder, file), 'utf8').trim();
  return `${RULE}\n${about.name} ${about.version}, ${about.license}\n\n${text}\n`;
}

export function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const file of Object.values(bundle)) {
        const ids = file.type === 'chunk' ? Object.keys(file.modules) : file.originalFileNames;
        for (const id of ids) {
          const folder = packageFolder(resolve(import.meta.dirname, id));
          if (folder !== undefined) folders.add(folder);
        }
      }
      const source = [...folders].map(licenseText).sort().join('\n');
      this.emitFile({type: 'asset', fileName: 'licenses.txt', source});
    },
  };
}
