// A link leads to what it speaks of, at a width at which it can be seen; one to what is not there says
// so. A moment has one time on every page.
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {instantText} from '../src/render/scale';
import {launch, type Visit, visit} from './browser';
import {type Server, sample, serve} from './program';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

interface Staged {
  stepscopeStage?: {motion: {view: object; target: {from: number; to: number}}};
}

const shown = (at: Visit) =>
  at.page.evaluate(() => ({...(window as Staged).stepscopeStage!.motion.target}));

function opening(name: string): {at: () => Visit} {
  let server: Server;
  let at: Visit;
  beforeAll(async () => {
    server = await serve(sample(name));
    at = await visit(browser, server.url);
  });
  afterAll(async () => {
    await at?.context.close();
    await server?.stop();
  });
  return {at: () => at};
}

describe('of a trace', () => {
  const {at} = opening('gpt_stack.json.gz');

  it.each([
    ['event=0.0.99999999', 'There is no event 0.0.99999999'],
    ['event=7.0.1', 'There is no event 7.0.1'],
    ['event=first', 'There is no event first'],
    ['step=0.0.77', 'This step is not in the trace'],
    ['at=9.0.5.5', 'This time is not in the trace'],
  ])('an address with %s says that it leads nowhere', async (query, title) => {
    await at().go(`#/timeline?${query}`);
    await at().page.waitForSelector(`.panel h2:text-is("${title}")`);
    expect(await at().page.textContent('.panel [role=alert]')).toContain('another run');
    await at().page.click('.panel button[aria-label^="Close"]');
    await at().page.waitForSelector('.panel', {state: 'detached'});
  });

  it('an event is shown at a width at which it can be seen, and where it starts', async () => {
    await at().go('#/');
    await at().go('#/timeline?event=0.0.1861');
    await at().page.waitForSelector('.panel-part dl');
    const event = await at().page.evaluate(async () => (await fetch('api/events/0/0/1861')).json());
    await expect
      .poll(async () => {
        const {from, to} = await shown(at());
        return event.duration_ns / (to - from);
      })
      .toBeGreaterThan(0.1);
    expect(await at().page.textContent('.panel-part dl')).toContain(
      instantText(event.start_ns, event.duration_ns),
    );
  });

  it('Enter is not lost where typing is faster than the server', async () => {
    await at().go('#/');
    await at().go('#/timeline');
    await at().page.waitForSelector('.group-name');
    await at().page.route('**/api/search*', async (route) => {
      await new Promise((done) => setTimeout(done, 500));
      await route.continue();
    });
    await at().page.keyboard.press('/');
    await at().page.keyboard.type('aten::addmm');
    await at().page.keyboard.press('Enter');
    await at().page.waitForURL(/event=0\.0\./);
    await at().page.waitForSelector('.hits button[aria-current=true]');
    expect(await at().page.locator('.hits li:first-child button[aria-current]').count()).toBe(1);
    await at().page.unroute('**/api/search*');
  });

  it('what took the time of a stretch is kept apart, and is not the recording', async () => {
    await at().go('#/');
    await at().go('#/timeline?sel=10000000-50000000');
    await at().page.waitForSelector('.names-head');
    const rows = await at().page.$$eval('.panel-part .refs li', (all) =>
      all.map((each) => each.textContent ?? ''),
    );
    expect(rows.join()).not.toContain('PyTorch Profiler');
    expect(rows.some((row) => /^forward.*on the GPU/.test(row))).toBe(true);
    expect(await at().page.textContent('.panel .bar-text')).toMatch(/ % busy$/);
  });

  it('a filter is of the tab it was typed on, and a tab says what its rows are', async () => {
    await at().go('#/kernels?filter=gemm');
    await at().page.click('.segments button:text-is("By shape")');
    await at().page.waitForSelector('.head p:has-text("Operators by the shapes")');
    expect(at().page.url()).not.toContain('filter');
    expect(await at().page.inputValue('.data input.filter')).toBe('');
    expect(await at().page.textContent('main')).not.toContain('table stacks is empty');
  });

  it('nothing went wrong', () =>
    expect(at().troubles.filter((text) => !text.includes('404'))).toEqual([]));
});

describe('of a recorded run', () => {
  const {at} = opening('run');

  it('a log line has the time of the timeline, and leads there', async () => {
    const {tables} = await at().page.evaluate(async () => (await fetch('api/analyses/log')).json());
    const {time} = await at().page.evaluate(async () => (await fetch('api/run')).json());
    const line = tables.lines[0];
    const when = line.time_ns + Number(time.recorded_offset_ns);
    await at().go('#/system');
    const row = at().page.locator(`section[aria-label="Log lines"] tr:has-text("${line.text}")`);
    const cell = row.first().locator('a');
    expect(await cell.textContent()).toBe(`${Math.round(when / 1e6)} ms`);
    await cell.click();
    await at().page.waitForSelector(`.log-lines li:has-text("${line.text}")`);
    expect(at().page.url()).toContain(`sel=${when}-${when + 1}`);
    const {from, to} = await shown(at());
    expect(from).toBeLessThan(when);
    expect(to - from).toBeGreaterThan(1e6);
  });

  it('a step of the loader leads to that step', async () => {
    const {tables} = await at().page.evaluate(async () =>
      (await fetch('api/analyses/loader')).json(),
    );
    const {time} = await at().page.evaluate(async () => (await fetch('api/run')).json());
    const step = tables.steps[0];
    const start = step.start_ns + Number(time.recorded_offset_ns);
    await at().go('#/ask/loader');
    await at().page.click('section[aria-label="steps"] tbody tr:first-child a');
    await at().page.waitForSelector('.names-head');
    expect(at().page.url()).toContain(`sel=${start}-${start + step.step_ns}`);
  });

  it('nothing went wrong', () => expect(at().troubles).toEqual([]));
});

it('a snapshot, which has no timeline, says what to look at', async () => {
  const server = await serve(sample('snap_gpt_leak.pickle.gz'));
  try {
    const at = await visit(browser, server.url);
    await at.go('#/timeline');
    await at.page.click('.state a:has-text("in memory over time")');
    await at.page.waitForSelector('.data tbody tr');
    expect(at.troubles).toEqual([]);
  } finally {
    await server.stop();
  }
});
