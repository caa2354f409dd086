// What has room is shown: names are cut only where they must be, columns of tables stand apart, and
// what says where one is stays in sight.
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, expect, it} from 'vitest';
import {launch, type Visit, visit} from './browser';
import {sample, serve} from './program';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

async function opened(
  path: string,
  width: number,
  check: (at: Visit) => Promise<void>,
  ...options: string[]
): Promise<void> {
  const server = await serve(path, ...options);
  try {
    const at = await visit(browser, server.url, {viewport: {width, height: 800}});
    await check(at);
    expect(at.troubles).toEqual([]);
    await at.context.close();
  } finally {
    await server.stop();
  }
}

// Cells of a table whose text is cut, and the room that other columns have beside their texts.
function cutNames(): {cut: number; whole: number; spare: number; wide: number} {
  const rows = [...document.querySelectorAll('.data tbody tr')];
  const names = rows.map((row) => row.querySelector<HTMLElement>('.cut > span:first-child')!);
  const cut = names.filter((name) => name.scrollWidth > name.clientWidth).length;
  const heads = [...document.querySelectorAll('.data th')];
  let spare = 0;
  heads.forEach((head, i) => {
    const used = Math.max(
      ...rows.map((row) => {
        const cell = row.querySelectorAll('td')[i]!;
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect().width;
      }),
    );
    const text = document.createRange();
    text.selectNodeContents(head.querySelector('button')!);
    spare += Math.max(
      0,
      head.getBoundingClientRect().width - Math.max(used, text.getBoundingClientRect().width) - 21,
    );
  });
  const table = document.querySelector('.data table')!;
  return {
    cut,
    whole: names.length - cut,
    spare,
    wide: table.scrollWidth - table.parentElement!.clientWidth,
  };
}

it.each([1280, 1920])('at %i px a kernel is cut only where no column has room', (width) =>
  opened(sample('gpt_bf16.json.gz'), width, async (at) => {
    await at.go('#/kernels');
    await at.page.waitForSelector('.data tbody tr');
    const found = await at.page.evaluate(cutNames);
    expect(found.wide).toBeLessThanOrEqual(0);
    if (found.cut > 0) expect(found.spare).toBeLessThan(width / 20);
    if (width === 1920) expect(found.whole).toBeGreaterThan(found.cut);
  }),
);

it('figures stand apart from the text after them', () =>
  opened(sample('run'), 1280, async (at) => {
    await at.go('#/system');
    await at.page.waitForSelector('section[aria-label="Log lines"] .data');
    const gaps = await at.page.$$eval('section[aria-label="Log lines"] .data tr', (rows) =>
      rows.flatMap((row) => {
        const boxes = [...row.children].map((cell) => {
          const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          const sides: number[] = [];
          while (walk.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(walk.currentNode);
            const {left, right, width} = range.getBoundingClientRect();
            if (width > 0) sides.push(left, right);
          }
          return {left: Math.min(...sides), right: Math.max(...sides)};
        });
        return boxes.slice(1).map((box, i) => box.left - boxes[i]!.right);
      }),
    );
    expect(gaps.length).toBeGreaterThan(20);
    for (const gap of gaps) expect(gap).toBeGreaterThan(24);
  }));

it('an event far down keeps the bar, the ruler and the name of its rank in sight', () =>
  opened(
    sample('ddp'),
    1280,
    async (at) => {
      await at.page.waitForSelector('.panel-part h2:has-text("enumerate(DataLoader)")');
      const scrolled = () => at.page.$eval('.stage-scroll', (rows) => rows.scrollTop);
      await expect.poll(scrolled).toBeGreaterThan(200);
      const there = await at.page.evaluate(() => {
        const box = (element: Element) => element.getBoundingClientRect();
        const scroll = box(document.querySelector('.stage-scroll')!);
        const corner = box(document.querySelector('.stage-corner')!);
        const pin = document.querySelector('.group-pin')!;
        return {
          bar: box(document.querySelector('.top')!).top,
          page: scrollY + document.documentElement.scrollHeight - innerHeight,
          corner: corner.top - scroll.top,
          pin: box(pin).top - corner.bottom,
          name: pin.textContent,
        };
      });
      expect(there).toMatchObject({bar: 0, page: 0, corner: 0, pin: 0});
      expect(there.name).toContain('rank 1');
    },
    '--event',
    '1.0.5824',
  ));
