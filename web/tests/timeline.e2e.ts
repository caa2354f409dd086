// The timeline moves, finds and explains; what it shows is what the interface says.
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {durationText} from '../src/render/numbers';
import {copied, launch, type Visit, visit} from './browser';
import {analysed, type Server, sample, serve} from './program';

const RANKS = sample('ddp');

let browser: Browser;
let server: Server;
let at: Visit;

interface Moving {
  view: {from: number; to: number};
}

beforeAll(async () => {
  browser = await launch();
  server = await serve(RANKS);
  at = await visit(browser, server.url);
  await at.go('#/timeline');
  await at.page.waitForSelector('canvas');
  await at.page.waitForSelector('.group-name');
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const view = () =>
  at.page.evaluate(() => ({
    ...(window as unknown as {stepscopeStage: {motion: Moving}}).stepscopeStage.motion.view,
  }));

// The view has arrived where it goes.
const arrived = () =>
  at.page.waitForFunction(() => {
    const {motion} = (
      window as unknown as {stepscopeStage: {motion: {view: object; target: object}}}
    ).stepscopeStage;
    return motion.view === motion.target;
  });

// How many different colours the canvas shows: 1 is nothing.
const colours = () =>
  at.page.evaluate(() => {
    const canvas = document.querySelector('canvas')!;
    const {data} = canvas.getContext('2d')!.getImageData(0, 40, canvas.width, canvas.height - 40);
    const seen = new Set<number>();
    for (let i = 0; i < data.length; i += 4)
      seen.add((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!);
    return seen.size;
  });

// Pixels of the canvas in the colour of arrows, frames of stretches and the pointer's line.
const accented = () =>
  at.page.evaluate(() => {
    const canvas = document.querySelector('canvas')!;
    const style = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
    const probe = new OffscreenCanvas(1, 1).getContext('2d')!;
    probe.fillStyle = style;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    // A copy is read: reading the canvas itself would make it slow from then on.
    const copy = new OffscreenCanvas(canvas.width, canvas.height - 40);
    const read = copy.getContext('2d', {willReadFrequently: true})!;
    read.drawImage(canvas, 0, -40);
    const {data} = read.getImageData(0, 0, copy.width, copy.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i] === r && data[i + 1] === g && data[i + 2] === b) ++count;
    return count;
  });

interface Ref {
  rank: number;
  window: number;
  ordinal: number;
  start_ns: number;
  duration_ns: number;
}
interface Linked extends Ref {
  launch: Ref | null;
  forward: Ref | null;
  work: Ref[];
  backward: Ref[];
}

// The first event of that name that has what is wanted, by the interface.
const found = (name: string, wanted: 'launch' | 'backward' | 'work') =>
  at.page.evaluate(
    async ([text, link]) => {
      const hits = await (await fetch(`api/search?q=${encodeURIComponent(text!)}&limit=40`)).json();
      for (const hit of hits.hits) {
        const path = `api/events/${hit.rank}/${hit.window}/${hit.ordinal}`;
        const event = await (await fetch(path)).json();
        const there = event[link!];
        if (Array.isArray(there) ? there.length > 0 : there !== null) return event;
      }
      return null;
    },
    [name, wanted],
  ) as Promise<Linked | null>;

// Chooses an event, with both ends of its link in view.
async function showLink(event: Linked, other: Ref): Promise<void> {
  const from = Math.min(event.start_ns, other.start_ns);
  const to = Math.max(event.start_ns + event.duration_ns, other.start_ns + other.duration_ns);
  const air = (to - from) * 0.2;
  await at.go('#/timeline');
  await at.page.keyboard.press('Escape');
  await at.page.mouse.move(5, 5);
  await at.go(
    `#/timeline?from=${Math.round(from - air)}&to=${Math.round(to + air)}&event=${event.rank}.${event.window}.${event.ordinal}`,
  );
  await at.page.waitForSelector('.panel-part h2');
  await arrived();
}

// What is drawn as an arrow now: the two ends.
const arrows = () =>
  at.page.evaluate(() =>
    (
      window as unknown as {stepscopeStage: {arrows: {from: Ref; to: Ref}[]}}
    ).stepscopeStage.arrows.map((arrow) => [arrow.from.ordinal, arrow.to.ordinal]),
  );

describe('the timeline', () => {
  it('draws threads and streams of all ranks', async () => {
    const groups = await at.page.$$eval('.group-name', (names) =>
      names.map((name) => name.textContent),
    );
    for (const group of ['rank 0 · GPU 0', 'rank 0 · host', 'rank 1 · GPU 0', 'rank 1 · host']) {
      expect(groups.some((name) => name?.includes(group))).toBe(true);
    }
    await expect.poll(colours).toBeGreaterThan(8);
  });
  it('the wheel zooms where the pointer is', async () => {
    const before = await view();
    const canvas = (await at.page.locator('canvas').boundingBox())!;
    const x = canvas.x + canvas.width * 0.3;
    const share = 0.3;
    await at.page.mouse.move(x, canvas.y + 65); // on the first step
    await at.page.waitForSelector('.tip.hover:has-text("step 2")');
    for (let i = 0; i < 8; ++i) await at.page.mouse.wheel(0, -200);
    const size = async () => {
      const {from, to} = await view();
      return to - from;
    };
    // The wheel may come when the test has gone on: it is waited for, not for a view at rest.
    await expect.poll(size).toBeLessThan((before.to - before.from) / 4);
    await arrived();
    // What was there before is not said of what is there now.
    await at.page.waitForSelector('.tip.hover', {state: 'detached'});
    const after = await view();
    const under = (one: Moving['view']) => one.from + share * (one.to - one.from);
    // The pointer stands on whole pixels: two of them before zooming are the tolerance.
    const pixels = (2 * (before.to - before.from)) / canvas.width;
    expect(Math.abs(under(after) - under(before))).toBeLessThan(pixels);
    await at.page.waitForURL(/from=\d+&to=\d+/);
  });
  it('keys and dragging move it', async () => {
    const first = await view();
    const from = async () => (await view()).from;
    await at.page.keyboard.down('d');
    await expect.poll(from).toBeGreaterThan(first.from);
    await at.page.keyboard.up('d');
    await arrived();
    const second = await view();
    const canvas = (await at.page.locator('canvas').boundingBox())!;
    await at.page.mouse.move(canvas.x + 300, canvas.y + 300);
    await at.page.mouse.down();
    await at.page.mouse.move(canvas.x + 500, canvas.y + 300, {steps: 5});
    await at.page.mouse.up();
    await expect.poll(from).toBeLessThan(second.from);
    await at.page.keyboard.press('0');
    await expect
      .poll(async () => {
        const whole = await view();
        return whole.to - whole.from;
      })
      .toBeGreaterThan(7e8);
  });
  it.each([
    ['w', 's', 'size'],
    ['d', 'a', 'from'],
    ['ArrowRight', 'ArrowLeft', 'from'],
    ['ArrowDown', 'ArrowUp', 'row'],
  ] as const)('%s and %s are ways there and back', async (there, back, what) => {
    const now = async () => {
      const {from, to} = await view();
      const row = await at.page.locator('.stage-scroll').evaluate((rows) => rows.scrollTop);
      return {size: from - to, from, row}[what]; // grows on the way there
    };
    await at.go('#/timeline?from=200000000&to=400000000');
    await arrived();
    await at.page.mouse.move(5, 5);
    const before = await now();
    await at.page.keyboard.down(there);
    await expect.poll(now).toBeGreaterThan(before);
    await at.page.keyboard.up(there);
    await arrived();
    const after = await now();
    await at.page.keyboard.down(back);
    await expect.poll(now).toBeLessThan(after);
    await at.page.keyboard.up(back);
    await arrived();
  });
  it('/ searches, Enter goes to the first hit, the address can be shared', async () => {
    await at.page.keyboard.press('/');
    await at.page.keyboard.type('aten::addmm');
    const calls = analysed(RANKS, 'operators', 'operators', '--top', '0')
      .filter((row) => row.name === 'aten::addmm')
      .reduce((sum, row) => sum + Number(row.calls), 0);
    // What was typed so far had hits, too.
    await expect
      .poll(() => at.page.textContent('.panel [role=status]'))
      .toContain(`${calls} events`);
    await at.page.keyboard.press('Enter');
    await at.page.waitForSelector('.panel-part h2:text-is("aten::addmm")');
    await at.page.waitForURL(/event=\d+\.0\.\d+/);
    // The hits stay where they were, and what was found is in view.
    expect(await at.page.locator('.panel-part h2').first().textContent()).toBe('“aten::addmm”');
    const below = at.page.locator('.panel-part h2:text-is("aten::addmm")');
    expect((await below.boundingBox())!.y).toBeLessThan(700);
    const shared = at.page.url();
    const other = await at.context.newPage();
    await other.goto(shared);
    await other.waitForSelector('.panel-part h2:text-is("aten::addmm")');
    await other.close();
  });
  it('details lead from a launch to its kernel and back', async () => {
    await at.page.keyboard.press('Escape');
    await at.go('#/timeline?q=cudaLaunchKernel');
    await at.page.click('.hits button:has-text("cudaLaunchKernel") >> nth=5');
    await at.page.waitForSelector('.panel-part h2:text-is("cudaLaunchKernel")');
    await at.page.waitForSelector('.panel:has-text("correlation")');
    await at.page.click('h3:has-text("Work on the GPU") + ul button');
    await at.page.waitForSelector('h3:has-text("Launched by")');
    await at.page.click('h3:has-text("Launched by") + ul button');
    await at.page.waitForSelector('h3:has-text("Work on the GPU")');
  });
  it('draws an arrow from a launch to its kernel', async () => {
    const event = (await found('cudaLaunchKernel', 'work'))!;
    const work = event.work[0]!;
    await showLink(event, work);
    await expect.poll(arrows).toEqual([[event.ordinal, work.ordinal]]);
    // From the other end it is the same arrow.
    await at.page.click('h3:has-text("Work on the GPU") + ul button');
    await at.page.waitForSelector('h3:has-text("Launched by")');
    await expect.poll(arrows).toEqual([[event.ordinal, work.ordinal]]);
  });
  it('draws an arrow from a forward pass to its backward pass', async () => {
    const event = (await found('aten::addmm', 'backward'))!;
    await showLink(event, event.backward[0]!);
    await expect.poll(accented).toBeGreaterThan(40);
    await expect.poll(arrows).toContainEqual([event.ordinal, event.backward[0]!.ordinal]);
    await at.page.keyboard.press('Escape');
    await expect.poll(accented).toBeLessThan(40);
  });
  it('a link to another view moves there', async () => {
    await at.go('#/timeline?from=1000000&to=9000000');
    await expect.poll(view).toEqual({from: 1000000, to: 9000000});
  });
  it('what is in view is copied as CSV and JSON', async () => {
    await at.go('#/timeline');
    for (const form of ['CSV', 'JSON']) {
      const text = await copied(at.page, `.timeline-bar button:has-text("Copy ${form}")`);
      await at.page.waitForSelector(`.toast:has-text("${form} copied")`);
      if (form === 'CSV') expect(text).toMatch(/^name,kind,count,total_ns,self_ns,longest_ns\n/);
      else expect((JSON.parse(text) as object[]).length).toBeGreaterThan(10);
    }
  });
  it('a stretch along the ruler has statistics', async () => {
    await at.go('#/timeline');
    await at.page.keyboard.press('Escape');
    const canvas = (await at.page.locator('canvas').boundingBox())!;
    await at.page.mouse.move(canvas.x + 200, canvas.y + 12);
    await at.page.mouse.down();
    await at.page.mouse.move(canvas.x + 420, canvas.y + 12, {steps: 6});
    await at.page.mouse.up();
    await at.page.waitForSelector('h3:has-text("What took the time")');
    await at.page.waitForSelector('.panel:has-text("How the GPUs spent it")');
    await at.page.waitForURL(/sel=\d+-\d+/);
  });
  it('statistics and colours are in sight while a search is open', async () => {
    await at.go('#/timeline?q=aten&sel=100000000-100050000');
    const chosen = at.page.locator('section[aria-label="Selected stretch"] h3').first();
    await chosen.waitFor();
    expect((await chosen.boundingBox())!.y).toBeLessThan(700);
    await at.page.click('.timeline-bar button:has-text("Colours")');
    const colours = at.page.locator('.panel-part h2:text-is("What the colours mean")');
    await colours.waitFor();
    expect((await colours.boundingBox())!.y).toBeLessThan(700);
    await at.page.click('.timeline-bar button:has-text("Colours")');
  });
  it('a GPU is not said to be busy in two ways', async () => {
    await at.go('#/timeline?sel=100000000-100050000');
    await at.page.waitForSelector('.panel:has-text("How the GPUs spent it")');
    await at.page.waitForSelector('h3:has-text("Counters")');
    const said = await at.page.textContent('section[aria-label="Selected stretch"]');
    expect(said).toContain('% busy');
    expect(said).toContain('GPU 0 queue length');
    expect(said).not.toContain('GPU 0 utilisation');
    await at.page.keyboard.press('Escape');
  });
  it('M has the statistics of what is chosen, or in view, without a pointer', async () => {
    await at.go('#/timeline?from=100000000&to=300000000');
    await arrived();
    await at.page.keyboard.press('m');
    const title = 'section[aria-label="Selected stretch"] h2';
    await at.page.waitForSelector(`${title}:text-is("200 ms")`);
    const event = (await found('aten::addmm', 'backward'))!;
    await at.go(`#/timeline?event=${event.rank}.${event.window}.${event.ordinal}`);
    await at.page.waitForSelector('.panel-part h2:text-is("aten::addmm")');
    await at.page.keyboard.press('m');
    await at.page.waitForSelector(`${title}:text-is("${durationText(event.duration_ns)}")`);
    await at.page.keyboard.press('Escape');
  });
  it('a step of a table is that step in the timeline', async () => {
    const step = analysed(RANKS, 'steps', 'steps').find((row) => row.rank === 1 && row.step === 3)!;
    await at.go('#/timeline?step=1.0.3');
    await at.page.waitForSelector(
      `section[aria-label="Selected stretch"] h2:text-is("${durationText(Number(step.step_ns))}")`,
    );
  });
  it('groups close and open', async () => {
    const first = at.page.locator('.group-name').first();
    const tracks = await at.page.locator('.track-name').count();
    const count = () => at.page.locator('.track-name').count();
    await first.click();
    await expect.poll(count).toBeLessThan(tracks);
    await first.click();
    await expect.poll(count).toBe(tracks);
  });
});

it('nothing went wrong and nothing was asked of another host', () => {
  expect(at.troubles).toEqual([]);
});
