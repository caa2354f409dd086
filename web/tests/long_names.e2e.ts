// Names as large projects have them: files in deep folders, kernels and runs with long names. None of
// them stands on other text or makes a page wider than the window.
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {launch, type Visit, visit} from './browser';
import {type Server, sample, serve} from './program';
import {SMALLEST, troubles} from './words';

const FOLDERS = 'library/of/many/models/and/their/adapters/text_base_model_';
const KERNEL = `Cijk_Alik_Bljk_${'B_BS_BH_Bias_HA_S_SAV_UserArgs_'.repeat(12)}`;

let browser: Browser;
let server: Server;
let at: Visit;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepscope-long-'));
  const path = join(folder, `${'a_long_name_of_an_experiment_'.repeat(7)}.json`);
  const text = gunzipSync(readFileSync(sample('gpt_stack.json.gz'))).toString();
  const long = text
    .replaceAll(/"name": "([\w/]+\.py\()/g, `"name": "${FOLDERS}$1`)
    .replaceAll('"name": "sm80_', `"name": "${KERNEL}`);
  expect(long.length).toBeGreaterThan(text.length + 10_000);
  writeFileSync(path, long);
  browser = await launch();
  server = await serve(path);
  // High, so that all of a page is on the screen.
  at = await visit(browser, server.url, {viewport: {width: 1280, height: 2400}});
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, {recursive: true, force: true});
});

it.each([
  '',
  'timeline',
  'kernels',
  'kernels?group=stacks',
  'modules?group=stacks',
  'ask/idle-time',
  'ask/kernel-durations',
  'ask/stacks',
  'ask/stalls',
])('every word of #/%s can be read', async (page) => {
  await at.go(`#/${page}`);
  await at.still();
  const found = await at.page.evaluate(troubles, SMALLEST);
  // A line of code moves below its button when it is scrolled.
  expect(found.filter((each) => !each.endsWith('stands on “Copy”'))).toEqual([]);
});

it('nothing went wrong', () => expect(at.troubles).toEqual([]));
