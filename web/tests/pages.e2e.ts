// Each page opens on a real sample, shows the numbers of the command line, and leads to evidence.
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {durationText, shareText} from '../src/render/numbers';
import {copied, launch, type Visit, visit} from './browser';
import {analysed, printed, type Server, sample, serve} from './program';

const TRACE = sample('gpt_bf16.json.gz');

let browser: Browser;
let server: Server;
let at: Visit;

beforeAll(async () => {
  browser = await launch();
  server = await serve(TRACE);
  at = await visit(browser, server.url);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function cells(): Promise<string[][]> {
  return at.page.$$eval('.data tbody tr', (rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim() ?? ''),
    ),
  );
}

describe('the overview', () => {
  it('has no token in its address once it is open', () => {
    expect(at.page.url()).not.toContain('token');
  });
  it('begins with the findings of the command line', async () => {
    await at.go('#/');
    const advice = JSON.parse(printed('advise', '--json', TRACE)) as {
      verdict: string[];
      findings: {title: string; detail: string}[];
    };
    const text = (await at.page.textContent('main')) ?? '';
    for (const sentence of advice.verdict) expect(text).toContain(sentence);
    for (const finding of advice.findings) {
      expect(text).toContain(finding.title);
      expect(text).toContain(finding.detail);
    }
  });
  it('shows the step times and parts of the command line', async () => {
    const [times] = analysed(TRACE, 'steps', 'times');
    const card = (await at.page.textContent('section[aria-label="Step times"]')) ?? '';
    expect(card).toContain(durationText(Math.round(Number(times!.mean_ns))));
    expect(card).toContain(durationText(Number(times!.p95_ns)));
    const where =
      (await at.page.textContent('section[aria-label="Where the step time goes"]')) ?? '';
    for (const part of analysed(TRACE, 'steps', 'parts')) {
      expect(where).toContain(shareText(Number(part.share)));
    }
  });
  it('a line of code stays one line, and its block scrolls', async () => {
    await at.go('#/');
    await at.page.setViewportSize({width: 480, height: 800});
    const blocks = () =>
      at.page.$$eval('.finding[open] .change pre', (all) =>
        all.map((block) => {
          const range = document.createRange();
          range.selectNodeContents(block.querySelector('code')!);
          const tops = [...range.getClientRects()].map((box) => Math.round(box.top));
          return {
            lines: new Set(tops).size,
            typed: block.querySelector('code')!.textContent!.split('\n').length,
            scrolls: block.scrollWidth > block.clientWidth,
          };
        }),
      );
    await expect.poll(async () => (await blocks()).some((block) => block.scrolls)).toBe(true);
    for (const block of await blocks()) expect(block.lines).toBe(block.typed);
    await at.page.setViewportSize({width: 1280, height: 800});
  });
  it('a click on evidence leads to the event in the timeline', async () => {
    await at.go('#/');
    await at.page.click('text=Show rank 0, step 3 in the timeline >> nth=1');
    await at.page.waitForSelector('.panel-part h2');
    await at.page.waitForURL(/#\/timeline\?.*event=0\.0\.2483/);
    expect(await at.page.textContent('.panel-part h2')).toBe('aten::linear');
  });
});

describe('tables', () => {
  it.each([
    ['operators', 'operators', 'operators', 'device_self_ns'],
    ['kernels', 'kernels', 'kernels', 'sum_ns'],
  ])('%s have the rows and numbers of the command line', async (page, analysis, table, time) => {
    await at.go(`#/${page}`);
    await at.page.waitForSelector('.data tbody tr');
    const expected = analysed(TRACE, analysis, table, '--top', '200');
    const shown = await cells();
    expect(shown).toHaveLength(Math.min(expected.length, 100));
    expected.slice(0, shown.length).forEach((row, i) => {
      expect(shown[i]!.join(' | ')).toContain(durationText(Number(row[time])));
    });
  });
  it('sort by a click on a heading, and filter as one types', async () => {
    await at.go('#/operators');
    await at.page.click('th button:has-text("calls")');
    await at.page.waitForSelector('th[aria-sort=descending] button:has-text("calls")');
    const calls = (await cells()).map((row) => Number(row[1]!.replaceAll(',', '')));
    expect(calls).toEqual([...calls].sort((a, b) => b - a));
    const other = await at.context.newPage(); // the address alone shows the same
    await other.goto(at.page.url());
    await other.waitForSelector('th[aria-sort=descending] button:has-text("calls")');
    await other.close();
    await at.page.fill('input[type=search]', 'layer_norm');
    await at.page.waitForURL(/filter=layer_norm/);
    const names = (await cells()).map((row) => row[0]!);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toContain('layer_norm');
  });
  it('group by shape', async () => {
    await at.go('#/operators?group=shapes');
    const expected = analysed(TRACE, 'operators', 'shapes', '--top', '200');
    const shown = await cells();
    expect(shown[0]!.join(' | ')).toContain(String(expected[0]!.shapes).slice(0, 20));
  });
  it('a name leads to its runs in the timeline', async () => {
    await at.go('#/kernels');
    await at.page.click('.data tbody tr:nth-child(3) a');
    await at.page.waitForSelector('.hits button');
    const [, , kernel] = analysed(TRACE, 'kernels', 'kernels');
    await expect
      .poll(() => at.page.textContent('.panel [role=status]'))
      .toContain(`${kernel!.count} events`);
  });
  it.each([
    ['operators', 'roofline', 'kernels', 'device_ns'],
    ['shapes', 'operators', 'shapes', 'device_self_ns'],
  ])('kernels by %s', async (group, analysis, table, time) => {
    await at.go(`#/kernels?group=${group}`);
    await at.page.waitForSelector('.data tbody tr');
    const top = analysis === 'roofline' ? [] : ['--top', '200'];
    const [first] = analysed(TRACE, analysis, table, ...top);
    expect((await cells())[0]!.join(' | ')).toContain(durationText(Number(first![time])));
  });
  it.each(['operators', 'kernels', 'modules'])('%s in every way they are grouped', async (page) => {
    await at.go(`#/${page}`);
    const ways = await at.page.locator('.segments button').allTextContents();
    expect(ways.length).toBeGreaterThan(1);
    for (const way of ways) {
      await at.page.click(`.segments button:text-is("${way}")`);
      await at.page.waitForSelector(`section[aria-label="${way}"]`);
      expect(await at.page.locator('.state.bad').count(), way).toBe(0);
    }
  });
  it('a row of a step or a gap leads to its time', async () => {
    const [gap] = analysed(TRACE, 'idle-time', 'gaps');
    await at.go('#/ask/idle-time');
    const start = await at.page.textContent('section[aria-label="gaps"] tbody td:nth-child(2)');
    await at.page.click('section[aria-label="gaps"] tbody tr:first-child a');
    await at.page.waitForSelector(
      `section[aria-label="Selected stretch"] h2:text-is("${durationText(Number(gap!.length_ns))}")`,
    );
    // The table has the time of the timeline.
    expect(start).toBe(durationText(Number(/sel=(\d+)/.exec(at.page.url())![1])));
    const step = analysed(TRACE, 'steps', 'steps')[1]!;
    await at.go('#/ask/steps');
    await at.page.click('section[aria-label="steps"] tbody tr:nth-child(2) a');
    await at.page.waitForSelector(
      `section[aria-label="Selected stretch"] h2:text-is("${durationText(Number(step.step_ns))}")`,
    );
  });
  it('a bar of a share is as long as the share', async () => {
    await at.go('#/ask/overview');
    const card = at.page.locator('section[aria-label="devices"], section[aria-label="Devices"]');
    const [device] = analysed(TRACE, 'overview', 'devices');
    const share = Number(device!.busy_share);
    expect(share).toBeLessThan(0.5);
    const bar = (await card.locator('.bar-track i').last().boundingBox())!;
    const whole = (await card.locator('.bar-track').last().boundingBox())!;
    expect(bar.width / whole.width).toBeCloseTo(share, 2);
  });
  it('bars of one name are distinct by their device', async () => {
    await at.go('#/ask/memory-operators');
    const names = await at.page.locator('.bars').first().locator('.bar-name').allTextContents();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('aten::empty · cuda:0');
  });
  it.each(['', 'timeline', 'operators', 'kernels', 'roofline', 'ask', 'ask/idle-time'])(
    '#/%s copies as CSV and as JSON',
    async (page) => {
      await at.go(`#/${page}`);
      const csv = await copied(at.page, 'button:has-text("Copy CSV") >> nth=0');
      await at.page.waitForSelector('.toast:has-text("CSV copied")');
      expect(csv.split('\n').length).toBeGreaterThan(2);
      expect(csv.split('\n')[0]).toMatch(/^[a-z0-9_,]+$/);
      JSON.parse(await copied(at.page, 'button:has-text("Copy JSON") >> nth=0'));
      await at.page.waitForSelector('.toast:has-text("JSON copied")');
    },
  );
  it('are copied in full precision', async () => {
    await at.go('#/kernels');
    const text = await copied(at.page, 'button:has-text("Copy CSV")');
    const csv = printed('analyze', 'kernels', '-f', 'csv', '--top', '200', TRACE);
    expect(text.split('\n')[1]).toBe(csv.split('\n')[1]);
    expect(text.split('\n').length).toBe(csv.split('\n').length);
  });
});

describe('other pages', () => {
  it('the roofline places every row whose FLOPs and bytes are known', async () => {
    await at.go('#/roofline');
    const rows = analysed(TRACE, 'roofline', 'operators', '--top', '100');
    const known = rows.filter(
      (row) => Number(row.intensity) > 0 && Number(row.tflop_per_second) > 0,
    );
    await expect.poll(() => at.page.locator('.roofline circle').count()).toBe(known.length);
  });
  it('every analysis has its own page that shows its tables or says why not', async () => {
    const all = JSON.parse(printed('analyze', '--list', '-f', 'json')) as {
      analyses: {name: string; title: string}[];
    };
    for (const analysis of all.analyses) {
      await at.go(`#/ask/${analysis.name}`);
      await at.page.waitForSelector('.data, .remark, .state');
      expect(await at.page.textContent('h1')).toBe(analysis.title);
      expect(await at.page.locator('.state.bad').count(), analysis.name).toBe(0);
    }
  });
  it('a table of zeros has no chart', async () => {
    const all = ['devices', 'steps'].flatMap((name) => analysed(TRACE, 'overlap', name));
    expect(all.every((row) => row.hidden_ns === 0 && row.exposed_ns === 0)).toBe(true);
    await at.go('#/ask/overlap');
    await at.page.waitForSelector('section[aria-label="steps"] .data');
    expect(await at.page.locator('main figure').count()).toBe(0);
  });
  it('an unknown address says so and leads on', async () => {
    await at.go('#/ask/nonsense');
    expect(await at.page.textContent('main')).toContain('There is no such question');
    await at.go('#/elsewhere');
    expect(await at.page.textContent('main')).toContain('There is no such page');
  });
  it('? opens the help, numbers go to pages', async () => {
    await at.go('#/');
    await at.page.keyboard.press('?');
    await at.page.waitForSelector('dialog[open]');
    await at.page.keyboard.press('Escape');
    await at.page.waitForSelector('dialog[open]', {state: 'detached'});
    await at.page.keyboard.press('4');
    await at.page.waitForURL(/#\/kernels/);
  });
  it('the switch changes the theme and keeps it', async () => {
    const theme = () => at.page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await at.page.click('button[aria-label^="Use the"]');
    await expect.poll(theme).not.toBe(before);
    await at.page.reload();
    await at.page.waitForSelector('h1');
    await expect.poll(theme).not.toBe(before);
    await at.page.click('button[aria-label^="Use the"]');
  });
});

it('nothing went wrong and nothing was asked of another host', () => {
  expect(at.troubles).toEqual([]);
});
