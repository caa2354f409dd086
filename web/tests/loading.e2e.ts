// What one sees before a run is there: how far reading it is, and, where a folder is served, what
// there is to choose.
import {execFileSync} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {launch, visit} from './browser';
import {sample, serve} from './program';

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'stepscope-loading-'));
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true});
});

describe('while a run loads', () => {
  it('the page shows how far it is, and then the run, by itself', async () => {
    const pipe = join(folder, 'rank1.json');
    execFileSync('mkfifo', [pipe]); // comes when the test wants it to
    const server = await serve(sample('ddp/rank0.json.gz'), pipe);
    try {
      const at = await visit(browser, server.url, {until: '[role=progressbar]'});
      const bar = at.page.locator('[role=progressbar]');
      await at.page.waitForSelector('text=1 of 2 files');
      await expect.poll(() => bar.getAttribute('aria-valuenow')).toBe('100');
      // The bar grows into its place in a moment: what counts is where it comes to rest.
      await expect
        .poll(() =>
          bar.evaluate(
            (track) =>
              track.firstElementChild!.getBoundingClientRect().width /
              track.getBoundingClientRect().width,
          ),
        )
        .toBeGreaterThan(0.9);
      writeFileSync(pipe, gunzipSync(readFileSync(sample('ddp/rank1.json.gz'))));
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      expect(await at.page.textContent('.figures')).toContain('Ranks2');
      expect(at.troubles).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

describe('below a proxy', () => {
  it('the page stands below a path of the site', async () => {
    const server = await serve('--base-path', '/node/n7/8250', sample('gpt_bf16.json.gz'));
    try {
      const at = await visit(browser, server.url);
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      expect(new URL(at.page.url()).pathname).toBe('/node/n7/8250/');
      await at.go('#/timeline');
      await at.page.waitForSelector('.group-name');
      expect(at.troubles).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

describe('an address without its last slash', () => {
  it('leads to the page', async () => {
    const server = await serve('--base-path', '/node/n7/8250', sample('gpt_bf16.json.gz'));
    try {
      const at = await visit(browser, server.url.replace('8250/?', '8250?'));
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      expect(new URL(at.page.url()).pathname).toBe('/node/n7/8250/');
      // Nor does it need its token again.
      await at.page.goto(at.page.url().replace(/8250\/.*/, '8250'));
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      expect(at.troubles).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});

describe('a run that was closed for others', () => {
  it('is read again when it is visited again, and the page goes on', async () => {
    const root = join(folder, 'many');
    for (const i of [0, 1, 2, 3, 4])
      cpSync(sample('gpt_bf16.json.gz'), join(root, `t${i}.json.gz`));
    const server = await serve('--root', root);
    try {
      const at = await visit(browser, server.url);
      await at.page.click('a[aria-label="Open t0.json.gz"]');
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      await at.go('#/kernels');
      await at.page.waitForSelector('.data tbody tr');
      const opened = (name: string) =>
        at.page.evaluate(
          async (run) => (await (await fetch(`api/run?run=${run}`)).json()).state as string,
          name,
        );
      for (const i of [1, 2, 3, 4]) await expect.poll(() => opened(`t${i}.json.gz`)).toBe('ready');
      await at.page.click('nav a:has-text("Operators")');
      await at.page.waitForSelector('h1:text-is("Operators")');
      await at.page.waitForSelector('.data tbody tr');
      expect(await at.page.locator('.state.bad').count()).toBe(0);
      // What it had asked while the run was read was refused; nothing else was.
      expect(at.troubles.length).toBeGreaterThan(0);
      for (const trouble of at.troubles) expect(trouble).toMatch(/503/);
    } finally {
      await server.stop();
    }
  });
});

describe('a served folder', () => {
  it('offers its runs, opens one, and another', async () => {
    const root = join(folder, 'runs');
    cpSync(sample('ddp'), join(root, 'exp2/ddp'), {recursive: true});
    cpSync(sample('run'), join(root, 'recorded'), {recursive: true});
    cpSync(sample('gpt_bf16.json.gz'), join(root, 'exp1.json.gz'));
    writeFileSync(join(root, 'broken.json'), '{"hello": 1}');
    symlinkSync(tmpdir(), join(root, 'outside'));
    const server = await serve('--root', root);
    try {
      const at = await visit(browser, server.url);
      await at.page.waitForSelector('.runs li');
      const names = await at.page.$$eval('.run-entry', (links) =>
        links.map((link) => link.textContent),
      );
      expect(names.sort()).toEqual(['broken.json', 'exp1.json.gz', 'exp2/', 'recorded']);
      // Into a folder, and a folder of ranks opened as one run.
      await at.page.click('.run-entry:has-text("exp2/")');
      await at.page.click('a[aria-label="Open ddp"]');
      await at.page.waitForSelector('section[aria-label="Findings"] h2');
      await at.page.waitForURL(/\?run=exp2%2Fddp/);
      expect(at.page.url()).not.toContain('token');
      expect(await at.page.textContent('.figures')).toContain('Ranks2');
      // The view can be shared: another tab shows the same.
      await at.go('#/kernels');
      const other = await at.context.newPage();
      await other.goto(at.page.url());
      await other.waitForSelector('.data tbody tr');
      await other.close();
      // Another run, by key and filter.
      await at.page.keyboard.press('o');
      await at.page.waitForSelector('h1:text-is("Choose a run")');
      await at.page.keyboard.press('/');
      await at.page.keyboard.type('recorded');
      await expect.poll(() => at.page.locator('.runs li').count()).toBe(1);
      await at.page.keyboard.press('Escape');
      await at.page.click('a[aria-label="Open recorded"]');
      await at.page.waitForSelector('section[aria-label="Recorded steps"]');
      expect(at.troubles).toEqual([]);
      // What is no recording says so and leads back.
      await at.page.goto(`${new URL(at.page.url()).origin}/?run=broken.json#/`);
      await at.page.waitForSelector('.loading-page.bad');
      await at.page.click('text=Choose another run');
      await at.page.waitForSelector('.runs li');
    } finally {
      await server.stop();
    }
  });
});
