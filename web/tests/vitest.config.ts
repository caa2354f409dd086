// End to end: the program serves a sample, Chromium opens the page. One file at a time, since each
// starts a browser.
import {resolve} from 'node:path';
import {defineConfig} from 'vitest/config';

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    environment: 'node',
    include: ['tests/*.e2e.ts'],
    fileParallelism: false,
    expect: {poll: {interval: 50, timeout: 60_000}}, // what settles has as long as it needs
    retry: 2, // a busy machine can be the cause; the summary names what needed it
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
