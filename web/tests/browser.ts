// Debian's Chromium, and what every test expects of a page: no error in the console, no request to
// anywhere but the server.
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import {expect} from 'vitest';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

// What a click copies: the clipboard is emptied first, since it may still hold what the last copied.
export async function copied(page: Page, button: string): Promise<string> {
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.click(button);
  await expect.poll(read).not.toBe('');
  return read();
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  troubles: string[]; // what must not have happened
  go(hash: string): Promise<void>;
  still(): Promise<void>;
}

// A page that was left or changed is drawn within two frames; one cannot tell earlier that it waits
// for nothing, since it may not have begun to.
const drawn = () =>
  new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & {until?: string} = {},
): Promise<Visit> {
  const {until = '.finding, .state, h1:not(.loading-title)', ...about} = options;
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...about});
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // machines that build meanwhile are slow
  const troubles: string[] = [];
  const host = new URL(url).host;
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(error.message));
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.protocol !== 'data:' && to.protocol !== 'blob:' && to.host !== host) {
      troubles.push(`asked ${to.host}`);
    }
  });
  page.on('response', (response) => {
    if (response.status() >= 400) troubles.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector(until);
  return {
    page,
    context,
    troubles,
    async go(hash) {
      await page.evaluate(
        (to) =>
          new Promise<void>((changed) => {
            if (location.hash === to) return changed();
            addEventListener('hashchange', () => changed(), {once: true});
            location.hash = to;
          }),
        hash,
      );
      await page.evaluate(drawn);
      await page.waitForFunction(() => document.querySelector('.waiting') === null);
    },
    // Nothing moves or fades any more.
    async still() {
      await page.evaluate(drawn);
      await page.waitForFunction(() =>
        document.getAnimations().every((each) => each.playState !== 'running'),
      );
    },
  };
}
