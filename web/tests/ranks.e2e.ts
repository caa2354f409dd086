// More ranks than there is room for: the slowest is among those that are drawn, and what is left out
// is said.
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {durationText} from '../src/render/numbers';
import {launch, type Visit, visit} from './browser';
import {analysed, type Server, sample, serve} from './program';

const RANKS = 10;
const SLOW = 9;

interface Event {
  ts?: number;
  dur?: number;
}

let browser: Browser;
let server: Server;
let at: Visit;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepscope-ranks-'));
  const text = gunzipSync(readFileSync(sample('gpt_stack.json.gz'))).toString();
  for (let rank = 0; rank < RANKS; ++rank) {
    const trace = JSON.parse(text);
    trace.distributedInfo = {backend: 'nccl', rank, world_size: 16};
    if (rank === SLOW) {
      for (const event of trace.traceEvents as Event[]) {
        if (event.ts !== undefined) event.ts *= 2;
        if (event.dur !== undefined) event.dur *= 2;
      }
    }
    writeFileSync(join(folder, `rank${rank}.json`), JSON.stringify(trace));
  }
  browser = await launch();
  server = await serve(folder);
  at = await visit(browser, server.url);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, {recursive: true, force: true});
});

it('the slowest rank is drawn, and which are left out is said', async () => {
  const card = at.page.locator('section[aria-label="Where the step time goes"]');
  await card.waitFor();
  expect(await card.textContent()).toContain(
    `Drawn are 8 of ${RANKS} ranks: 0–6, ${SLOW}; rank ${SLOW} is the slowest.`,
  );
  for (const list of ['GPU time of the steps', 'Parts of the average step']) {
    const names = await card.locator(`ul[aria-label="${list}"] .bar-name`).allTextContents();
    expect(names).toEqual([0, 1, 2, 3, 4, 5, 6, SLOW].map((rank) => `rank ${rank}`));
  }
});

it('the step times are those of the slowest, until another is chosen', async () => {
  const times = analysed(folder, 'steps', 'times');
  const mean = (rank: number) =>
    durationText(Math.round(Number(times.find((row) => row.rank === rank)!.mean_ns)));
  const card = at.page.locator('section[aria-label="Step times"]');
  await card.waitFor();
  expect(await card.locator('select').inputValue()).toBe(String(SLOW));
  expect(await card.locator('.figures').textContent()).toContain(mean(SLOW));
  expect(await at.page.textContent('.facts .figures')).toContain(`Mean step${mean(SLOW)}`);
  await card.locator('select').selectOption('0');
  await expect.poll(() => card.locator('.figures').textContent()).toContain(mean(0));
  expect(at.page.url()).toContain('rank=0');
});

it('ranks that are not in the files are counted as the report does', async () => {
  expect(await at.page.textContent('.facts .figures')).toContain(`Ranks${RANKS} of 16`);
});

it('one chart stands before the table of kernels', async () => {
  await at.go('#/kernels');
  await at.page.waitForSelector('.data tbody tr');
  expect(await at.page.locator('main figure').count()).toBe(1);
  expect(await at.page.textContent('main')).toContain(`Drawn is rank 0, one of ${RANKS};`);
});

it('the GPUs of ranks stand together, and a hit on a thread opens its rows', async () => {
  await at.go('#/timeline');
  const threads = at.page.locator('.group-name[aria-expanded=false]:has-text("· host")');
  await threads.first().waitFor();
  expect(await threads.count()).toBe(RANKS);
  await at.page.keyboard.press('/');
  await at.page.keyboard.type('aten::addmm');
  await at.page.waitForSelector('.hits button');
  await at.page.click('.hits button:has-text("rank 3") >> nth=0');
  await at.page.waitForSelector('.panel-part h2:text-is("aten::addmm")');
  const opened = at.page.locator('.group-name[aria-expanded=true]:has-text("rank 3 · host")');
  await opened.waitFor();
  expect(await threads.count()).toBe(RANKS - 1);
  // Its row has come into view.
  const scrolled = () => at.page.evaluate(() => document.querySelector('.stage-scroll')!.scrollTop);
  await expect.poll(scrolled).toBeGreaterThan(200);
  await at.page.keyboard.press('Escape');
});

it('nothing went wrong', () => expect(at.troubles).toEqual([]));
