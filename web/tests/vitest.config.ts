// End to end: the program serves a sample, Chromium opens the page. As many files at a time as there
// are processors, since each starts a browser.
import {availableParallelism} from 'node:os';
import {resolve} from 'node:path';
import {defineConfig} from 'vitest/config';

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    environment: 'node',
    include: ['tests/*.e2e.ts'],
    maxWorkers: availableParallelism(),
    expect: {poll: {interval: 50, timeout: 60_000}}, // what settles has as long as it needs
    retry: 2, // a busy machine can be the cause; the summary names what needed it
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
