// The page is built into build/web, beside the program that serves it. All addresses are relative,
// so that it works below any path of a proxy.
import {resolve} from 'node:path';
import {defineConfig} from 'vitest/config';
import {licenses} from './licenses.ts';

export default defineConfig({
  base: './',
  root: import.meta.dirname,
  plugins: [licenses()],
  oxc: {jsx: {runtime: 'automatic', importSource: 'preact'}},
  build: {
    outDir: process.env.STEPSCOPE_WEB_OUT ?? resolve(import.meta.dirname, '../build/web'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {checks: {pluginTimings: false}},
  },
  server: {proxy: {'/api': process.env.STEPSCOPE_URL ?? 'http://127.0.0.1:8642'}},
  test: {environment: 'node', include: ['src/**/*.test.{ts,tsx}']},
});
