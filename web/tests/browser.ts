// Debian's Chromium, and what every test expects of a page: no error in the console, no request to
// anywhere but the server.
import {type Browser, type BrowserContext, chromium, type Page} from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  troubles: string[]; // what must not have happened
  go(hash: string): Promise<void>;
}

export async function visit(
  browser: Browser,
  url: string,
  until = '.finding, .state, h1:not(.loading-title)',
): Promise<Visit> {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}});
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
      await page.evaluate((to) => {
        location.hash = to;
      }, hash);
      await page.waitForFunction(() => document.querySelector('.waiting') === null);
    },
  };
}
