// Read from far away: 1920 × 1080 at 150 %, where as much fits as on a small laptop. No text is cut
// off, stands on other text or is tiny, and no page of the bar has to be moved sideways.
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {PAGES} from '../src/views/pages';
import {launch, type Visit, visit} from './browser';
import {type Server, sample, serve} from './program';
import {SMALLEST, troubles} from './words';

const ZOOM = 1.5;

const ADDRESSES = [
  ...PAGES.map((page) => page.path),
  'timeline?q=aten::mm',
  'timeline?sel=10000000-20000000',
  'operators?group=shapes',
  'operators?group=stacks',
  'kernels?group=operators',
  'kernels?group=stacks',
];

let browser: Browser;
let server: Server;
let at: Visit;
beforeAll(async () => {
  browser = await launch();
  server = await serve(sample('gpt_stack.json.gz'));
  const screen = {width: 1920 / ZOOM, height: 1080 / ZOOM};
  at = await visit(browser, server.url, {viewport: screen, deviceScaleFactor: ZOOM});
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe('on a projector', () => {
  it.each(ADDRESSES)('every word of #/%s can be read', async (page) => {
    await at.go(`#/${page}`);
    await at.still();
    expect(await at.page.evaluate(troubles, SMALLEST)).toEqual([]);
  });
  it('every word about an event can be read', async () => {
    await at.go('#/timeline?q=aten::mm');
    await at.page.click('.hits button >> nth=3');
    await at.page.waitForSelector('h3:has-text("Arguments")');
    await at.still();
    expect(await at.page.evaluate(troubles, SMALLEST)).toEqual([]);
  });
  it('every word of the help can be read', async () => {
    await at.page.keyboard.press('?');
    await at.page.waitForSelector('dialog[open]');
    expect(await at.page.evaluate(troubles, SMALLEST)).toEqual([]);
    await at.page.keyboard.press('Escape');
  });
});
