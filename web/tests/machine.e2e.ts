// What was sampled of the machine under a run: over time on the System page, and below the events of
// the same axis in the timeline. The run is the one whose energy the goldens know.
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {numberText, shareText} from '../src/render/numbers';
import {launch, type Visit, visit} from './browser';
import {analysed, ROOT, type Server, serve} from './program';

// The files that a golden holds as hex.
function unpack(golden: string, folder: string): void {
  const parts = readFileSync(resolve(ROOT, golden), 'utf8').split(/^-- /m).slice(1);
  for (const part of parts) {
    const [head = '', ...lines] = part.split('\n');
    const [name = '', form] = head.split(' ');
    if (form !== 'hex') continue;
    const path = join(folder, name);
    mkdirSync(dirname(path), {recursive: true});
    writeFileSync(path, Buffer.from(lines.join(''), 'hex'));
  }
}

let browser: Browser;
let server: Server;
let at: Visit;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stepscope-machine-'));
  unpack('tests/golden/energy/counter.test', folder);
  browser = await launch();
  server = await serve(join(folder, 'run'));
  at = await visit(browser, server.url);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, {recursive: true, force: true});
});

it('samples alone are named samples', async () => {
  const alone = await serve(join(folder, 'run/attempt-0/node-n1'));
  try {
    const here = await visit(browser, alone.url);
    await here.page.waitForSelector('section[aria-label="Machines"] .data');
    expect(await here.page.textContent('section[aria-label="Samples"]')).toContain(
      'samples of a machine, and no trace',
    );
    expect(await here.page.locator('section[aria-label="Nothing to draw"]').count()).toBe(0);
    expect(here.troubles).toEqual([]);
    await here.context.close();
  } finally {
    await alone.stop();
  }
});

it('files of the allocator alone are named as such', async () => {
  for (const [name, words] of [
    ['exported.timeline.json.gz', 'a timeline of memory'],
    ['exported.stats.json', 'figures of the allocator'],
  ] as const) {
    const alone = await serve(resolve(ROOT, 'tests/fixtures/memory', name));
    try {
      const here = await visit(browser, alone.url);
      await here.page.waitForSelector(`section[aria-label="Memory"]:has-text("${words}")`);
      expect(await here.page.locator('section[aria-label="Nothing to draw"]').count()).toBe(0);
      await here.context.close();
    } finally {
      await alone.stop();
    }
  }
});

it('the system page shows load, memory, power and energy over time', async () => {
  await at.go('#/system');
  await at.page.waitForSelector('section[aria-label="Energy"] .data');
  for (const chart of ['Utilisation', 'Power, in watts', 'Memory in use']) {
    await at.page.waitForSelector(`section[aria-label="${chart}"] .lines canvas`);
  }
  const run = analysed(join(folder, 'run'), 'energy', 'run').find((row) => row.of === 'GPU')!;
  expect(await at.page.textContent('section[aria-label="Energy"]')).toContain(
    numberText(Number(run.joules)),
  );
});

it('a number with decimals can be asked for, and a wrong one says what it should have been', async () => {
  const field = '.settings input#set-grams-per-kwh';
  await at.go('#/ask/energy');
  await at.page.fill(field, '380.5');
  await at.page.press(field, 'Enter');
  const [run] = analysed(join(folder, 'run'), 'energy', 'run', '--grams-per-kwh', '380.5');
  expect(Number(run!.co2_grams)).toBeCloseTo((Number(run!.joules) / 3.6e6) * 380.5);
  await at.page.waitForSelector(
    `section[aria-label="run"] td:has-text("${numberText(Number(run!.co2_grams))}")`,
  );
  await at.page.fill(field, 'abc');
  await at.page.press(field, 'Enter');
  await at.page.waitForSelector('main :has-text("\'abc\' is not a number, 0 or more")');
  expect(at.troubles.splice(0).some((text) => text.startsWith('400 '))).toBe(true);
});

it('the overview of a run that was not traced has what was sampled, and no word of a trace', async () => {
  await at.go('#/');
  const card = (await at.page.textContent('section[aria-label="Machines"]')) ?? '';
  const [gpu] = analysed(join(folder, 'run'), 'system', 'gpus');
  expect(card).toContain(String(gpu!.model));
  expect(card).toContain(shareText(Number(gpu!.busy_mean_share)));
  expect(await at.page.textContent('main')).not.toContain('trace has no GPU work');
  expect(await at.page.locator('section[aria-label="Step times"]').count()).toBe(0);
});

it('a bar that has none beside it is not drawn', async () => {
  await at.go('#/system');
  await at.page.waitForSelector('section[aria-label="Throughput"] .data');
  expect(await at.page.locator('section[aria-label="Throughput"] .bars').count()).toBe(0);
});

it('the timeline has the power of the GPU on the axis of the ranges', async () => {
  const tracks = await at.page.evaluate(async () => (await fetch('api/tracks')).json());
  const power = tracks.tracks.find((track: {label: string}) => track.label === 'GPU 0 power');
  expect(power).toMatchObject({kind: 'counter', rank: null, host: 'n1', unit: 'W', max: 400});
  await at.go('#/timeline');
  await at.page.waitForSelector('.group-name:has-text("machine n1")');
  await at.page.waitForSelector('.track-name:has-text("GPU 0 power")');
});

it('nothing went wrong and nothing was asked of another host', () => {
  expect(at.troubles).toEqual([]);
});
