// What goes wrong while the page is open: it says what, does not insist, and goes on when it can.
import {copyFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {launch, visit} from './browser';
import {type Server, sample, serve, serveAt} from './program';

const TRACE = sample('gpt_bf16.json.gz');

let browser: Browser;
let server: Server;
beforeAll(async () => {
  browser = await launch();
  server = await serve(TRACE);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe('a question that fails', () => {
  it('is shown and asked once', async () => {
    const at = await visit(browser, server.url);
    let asked = 0;
    at.page.on('request', (request) => {
      if (request.url().includes('api/analyses/kernels')) ++asked;
    });
    await at.go('#/kernels?top=x');
    await at.page.waitForSelector('.state.bad:has-text("top")');
    expect(await at.page.locator('.state.bad button').count()).toBe(0); // it would fail again
    // A page that insists would do so meanwhile.
    for (let i = 0; i < 5; ++i) await at.page.evaluate(() => fetch('api/run').then(() => {}));
    expect(asked).toBe(1);
    await at.page.fill('#set-top', '3');
    await at.page.keyboard.press('Enter');
    await at.page.waitForSelector('.data tbody tr');
    expect(asked).toBe(2);
    await at.context.close();
  });
});

describe('a server that is gone', () => {
  it('is shown, and when it is back the page goes on by itself', async () => {
    const at = await visit(browser, server.url);
    await at.context.setOffline(true);
    await at.page.click('nav a:has-text("Kernels")');
    await at.page.waitForSelector('.connection:has-text("The server does not answer")');
    await at.page.waitForSelector('.state.bad button:has-text("Try again")');
    await at.context.setOffline(false);
    await at.page.waitForSelector('.data tbody tr');
    await at.page.waitForSelector('.connection', {state: 'detached'});
    await at.context.close();
  });
  it('draws the timeline once it is back', async () => {
    const at = await visit(browser, server.url);
    await at.context.setOffline(true);
    await at.page.click('nav a:has-text("Timeline")');
    await at.page.waitForSelector('.connection');
    await at.context.setOffline(false);
    await at.page.waitForSelector('.group-name');
    await at.context.close();
  });
  it('is not taken for another one in its place', async () => {
    const first = await serve(TRACE);
    const at = await visit(browser, first.url);
    await first.stop();
    await at.page.click('nav a:has-text("Kernels")');
    await at.page.waitForSelector('.connection');
    const second = await serveAt(new URL(first.url).port, TRACE);
    await at.page.waitForSelector('.connection:has-text("started again")');
    await second.stop();
    await at.context.close();
  });
});

it('a page of a server of before says what to open, and offers nothing that cannot help', async () => {
  const first = await serve(TRACE);
  const at = await visit(browser, first.url);
  await first.stop();
  const second = await serveAt(new URL(first.url).port, TRACE);
  try {
    await at.page.click('nav a:has-text("Kernels")');
    await at.page.waitForSelector('.connection:has-text("started again")');
    await at.page.waitForSelector('.state.bad:has-text("token")');
    expect(await at.page.locator('.state.bad button').count()).toBe(0);
  } finally {
    await second.stop();
    await at.context.close();
  }
});

it('a trace that is gone leaves its events, and they say what is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepscope-troubles-'));
  const path = join(folder, 'trace.json.gz');
  copyFileSync(TRACE, path);
  const gone = await serve(path);
  try {
    const at = await visit(browser, gone.url);
    rmSync(path);
    await at.go('#/timeline?event=0.0.1861');
    await at.page.waitForSelector('.panel-part:has-text("cannot be read again")');
  } finally {
    await gone.stop();
    rmSync(folder, {recursive: true});
  }
});

it('an address without its token says what to open', async () => {
  const at = await visit(browser, server.url.replace(/token=.*/, 'token=old'));
  expect(await at.page.textContent('h1')).toBe('This address needs its token');
  expect(await at.page.textContent('body')).toContain('stepscope serve');
  await at.context.close();
});

it('a trace without events has nothing to draw and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepscope-troubles-'));
  const path = join(folder, 'trace.json');
  writeFileSync(path, '{"schemaVersion": 1, "traceEvents": []}');
  const empty = await serve(path);
  try {
    const at = await visit(browser, empty.url);
    await at.page.waitForSelector('.state:has-text("Nothing to draw")');
    await at.go('#/timeline');
    await at.page.waitForSelector('.state:has-text("nothing to draw over time")');
    expect(at.troubles).toEqual([]);
  } finally {
    await empty.stop();
    rmSync(folder, {recursive: true});
  }
});
