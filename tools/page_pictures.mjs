// Takes the pictures of docs/ui: every page at 1280 × 800, light and dark, on the bundled samples.
//   tools/web node ../tools/page_pictures.mjs       after make build web
import {spawn} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';

const {chromium} = createRequire(join(process.cwd(), 'package.json'))('playwright-core');
const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'docs/ui');
const DATA = join(ROOT, 'examples/data');

// A kernel with the call that launched it, side by side.
async function launched(page) {
  const [from, to, id] = await page.evaluate(async () => {
    const ask = async (path) => (await fetch(path)).json();
    const {hits} = await ask('api/search?q=nvjet&limit=200');
    for (const hit of hits.slice(100)) {
      const place = `${hit.rank}/${hit.window}/${hit.ordinal}`;
      const kernel = await ask(`api/events/${place}`);
      if (kernel.launch === null) continue;
      const start = kernel.launch.start_ns;
      const end = kernel.start_ns + kernel.duration_ns;
      return [start - 700_000, end + 900_000, place.replaceAll('/', '.')];
    }
    throw new Error('no kernel with a launch');
  });
  return `timeline?from=${from}&to=${to}&event=${id}`;
}

const PICTURES = [
  ['gpt_bf16.json.gz', [
    ['overview', ''],
    ['timeline', launched],
    ['operators', 'operators'],
    ['kernels', 'kernels'],
    ['roofline', 'roofline'],
    ['question', 'ask/idle-time'],
  ]],
  ['gpt_stack.json.gz', [['modules', 'modules']]],
  ['run', [['system', 'system']]],
];

async function served(sample) {
  const program = process.env.STEPSCOPE_BIN ?? join(ROOT, 'build/stepscope');
  const assets = join(ROOT, 'build/web');
  const words = ['serve', '--no-open', '--port', '0', '--assets', assets, join(DATA, sample)];
  const server = spawn(program, words, {stdio: ['ignore', 'pipe', 'ignore']});
  const url = await new Promise((found) => {
    let said = '';
    server.stdout.on('data', (data) => {
      said += data;
      const address = /http:\/\/\S+token=\S+/.exec(said);
      if (address !== null) found(address[0]);
    });
  });
  return {url, stop: () => server.kill('SIGINT')};
}

const drawn = () =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

mkdirSync(OUT, {recursive: true});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
for (const [sample, pictures] of PICTURES) {
  const server = await served(sample);
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({
      viewport: {width: 1280, height: 800},
      colorScheme: theme,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(server.url);
    await page.waitForSelector('h1:not(.loading-title)');
    for (const [name, where] of pictures) {
      const hash = typeof where === 'string' ? where : await where(page);
      await page.evaluate((to) => {
        location.hash = to;
      }, `#/${hash}`);
      await page.evaluate(drawn);
      await page.waitForFunction(() => document.querySelector('.waiting') === null);
      if (name === 'timeline') await page.waitForSelector('.panel-part h2');
      // Tiles come one after another, and each is drawn when it is there.
      await page.waitForLoadState('networkidle');
      await page.evaluate(drawn);
      await page.screenshot({path: join(OUT, `${name}${theme === 'dark' ? '-dark' : ''}.png`)});
    }
    await context.close();
  }
  server.stop();
}
await browser.close();
