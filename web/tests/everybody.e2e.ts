// Everybody can use it: axe finds nothing on any page, light or dark; runs without GPU work, of
// memory alone, or that cannot be read have something to say.
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Browser, Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {PAGES} from '../src/views/pages';
import {copied, launch, type Visit, visit} from './browser';
import {type Server, sample, serve} from './program';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: {html: string; failureSummary?: string}[];
}

async function violations(page: Page): Promise<string[]> {
  // The page's own policy forbids scripts of others; the browser's tools may.
  await page.evaluate(AXE);
  const found = await page.evaluate(
    () =>
      (
        window as unknown as {axe: {run: (options: object) => Promise<{violations: Violation[]}>}}
      ).axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'],
      }) as Promise<{violations: Violation[]}>,
  );
  return found.violations.map(
    (each) =>
      `${each.id}: ${each.nodes[0]?.html.slice(0, 140)} ${each.nodes[0]?.failureSummary ?? ''}`,
  );
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const ADDRESSES = [
  ...PAGES.map((page) => page.path),
  'timeline?q=mm',
  'kernels?group=stacks',
  'ask/idle-time',
];

describe.each(['light', 'dark'] as const)('in %s', (theme) => {
  let server: Server;
  let at: Visit;
  beforeAll(async () => {
    server = await serve(sample('gpt_stack.json.gz'));
    at = await visit(browser, server.url);
    await at.page.emulateMedia({colorScheme: theme});
    await at.page.waitForSelector(`html[data-theme=${theme}]`);
  });
  afterAll(() => server?.stop());
  it.each(ADDRESSES)('axe has nothing to say of #/%s', async (page) => {
    await at.go(`#/${page}`);
    await at.still();
    expect(await violations(at.page)).toEqual([]);
  });
  it('the flame graph of modules copies as CSV and as JSON', async () => {
    await at.go('#/modules');
    const csv = await copied(at.page, 'button:has-text("Copy CSV") >> nth=0');
    expect(csv.split('\n').length).toBeGreaterThan(10);
    JSON.parse(await copied(at.page, 'button:has-text("Copy JSON") >> nth=0'));
  });
  it('a part of the flame graph that fills the width does so for others, too', async () => {
    await at.go('#/modules');
    await at.page.click('.flame button:has-text("Block_2")');
    await at.page.waitForSelector('text=Show all again');
    const other = await at.context.newPage();
    await other.goto(at.page.url());
    await other.waitForSelector('text=Show all again');
    await other.close();
  });
  it('nothing went wrong', () => expect(at.troubles).toEqual([]));
});

async function opened(path: string, check: (at: Visit) => Promise<void>): Promise<void> {
  const server = await serve(path);
  try {
    await check(await visit(browser, server.url));
  } finally {
    await server.stop();
  }
}

it('evidence about all calls of a name finds them', () =>
  opened(sample('gpt_stack.json.gz'), async (at) => {
    await at.page.click('.evidence a:has-text("Find aten::mm in the timeline")');
    await at.page.waitForSelector('.hits button');
    await expect.poll(() => at.page.textContent('.hits')).toContain('aten::mm');
    expect(at.troubles).toEqual([]);
  }));

describe('runs that lack something', () => {
  it('a recorded run shows its steps, ranges and log lines', () =>
    opened(sample('run'), async (at) => {
      const said = () => at.page.textContent('main');
      await expect.poll(said, {timeout: 60_000}).toContain('All recorded steps');
      await at.go('#/system');
      await at.page.waitForSelector('section[aria-label="Log lines"] .data');
      await expect.poll(said, {timeout: 60_000}).toContain('loss is not finite');
      const csv = await copied(at.page, 'section[aria-label="Log lines"] button:text("Copy CSV")');
      expect(csv).toContain('level');
      await at.go('#/timeline');
      await at.page.waitForSelector('.group-name:has-text("recorded")');
      const {lines} = (await at.page.evaluate(async () =>
        (await fetch('api/selection')).json(),
      )) as {lines: {time_ns: number; text: string}[]};
      const {time_ns, text} = lines.find((line) => line.text.includes('not finite'))!;
      await at.go(`#/timeline?sel=${time_ns}-${time_ns + 1}`);
      await at.page.waitForSelector(`.log-lines li:has-text("${text}")`);
      await at.page.waitForSelector('.log-lines:has-text("error · rank")');
      await at.go('#/kernels');
      await at.page.waitForSelector('.state, .remark');
      expect(at.troubles).toEqual([]);
    }));
  it('a trace without steps is not given one', async () => {
    const path = join(tmpdir(), `stepscope-no-steps-${process.pid}.json`);
    const trace = JSON.parse(gunzipSync(readFileSync(sample('gpt_bf16.json.gz'))).toString());
    const isStep = (event: {name?: string}) => event.name?.startsWith('ProfilerStep') === true;
    trace.traceEvents = trace.traceEvents.filter((event: {name?: string}) => !isStep(event));
    writeFileSync(path, JSON.stringify(trace));
    await opened(path, async (at) => {
      await at.page.waitForSelector('section[aria-label="Where the time goes"]');
      await at.page.waitForSelector('section[aria-label="GPU summary"]');
      const said = (await at.page.textContent('main')) ?? '';
      expect(said).toContain('Stepsnone marked');
      expect(said).toContain('here the whole recording counts as one step');
      expect(said).not.toContain('Mean step');
      expect(said).not.toContain('steps/s');
      expect(await at.page.locator('section[aria-label="Step times"]').count()).toBe(0);
      expect(at.troubles).toEqual([]);
    });
    rmSync(path);
  });
  it('a memory snapshot alone leads to the questions of memory', () =>
    opened(sample('snap_gpt_leak.pickle.gz'), async (at) => {
      await at.page.waitForSelector('text=what is never freed');
      await at.page.click('text=what filled the peak');
      await at.page.waitForSelector('.data');
      // A history is drawn as one, not as a ranking of its first moments.
      await at.go('#/ask/memory-timeline');
      await at.page.waitForSelector('section[aria-label="timeline"] svg.columns');
      await at.go('#/timeline');
      await at.page.waitForSelector('.state');
      expect(at.troubles).toEqual([]);
    }));
  it('a file that is no trace is named with the reason', async () => {
    const path = join(tmpdir(), `stepscope-no-trace-${process.pid}.json`);
    writeFileSync(path, '{"hello": 1}');
    await opened(path, async (at) => {
      await at.page.waitForSelector('.loading-page.bad');
      expect(await at.page.textContent('.loading-page')).toContain('stepscope-no-trace');
    });
  });
});
