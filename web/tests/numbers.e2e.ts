// The numbers on the pages are those of the command line: the first figures those of the report, and
// every cell of every question's tables that of its JSON.
import {execFileSync} from 'node:child_process';
import type {Browser} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type Analysis, type Answer, analyses, answer, type Table} from '../src/api/tables';
import {cellText, type RunTime, shortName, sinceZero, zeroOf} from '../src/render/cells';
import {shareText} from '../src/render/numbers';
import {layOut} from '../src/views/table_columns';
import {launch, type Visit, visit} from './browser';
import {analysed, PROGRAM, printed, type Server, sample, serve} from './program';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

// The first lines of the report by their names.
function firstLines(path: string): Map<string, string> {
  const lines = new Map<string, string>();
  let last = '';
  for (const line of printed('report', path).split('\n').slice(2)) {
    if (line === '') break;
    const [, name, text] = /^ {2}(\S.*?) {2,}(.*)$/.exec(line) ?? [];
    if (name !== undefined && text !== undefined) {
      last = name;
      lines.set(name, text);
    } else lines.set(last, `${lines.get(last)} ${line.trim()}`);
  }
  return lines;
}

const figures = (at: Visit) =>
  at.page.$$eval('.facts .figures > div', (all) =>
    Object.fromEntries(
      all.map((each) => [
        each.querySelector('dt')!.textContent,
        each.querySelector('dd')!.textContent,
      ]),
    ),
  );

function answerOfProgram(about: Analysis, path: string): Answer {
  const text = execFileSync(PROGRAM, ['analyze', about.name, '-f', 'json', path], {
    maxBuffer: 1 << 28,
  }).toString();
  return answer(about)(JSON.parse(text), about.name);
}

// What a table shows before anybody sorts or filters it. Moments of recordings are the timeline's.
function expectedCells(
  table: Table,
  most: number,
  recorded: bigint,
  time: RunTime | null,
): string[][] {
  const {first: columns} = layOut(table);
  const zero = zeroOf(table, recorded, time);
  return table.rows.slice(0, most).map((row) =>
    columns.map((i) => {
      const column = table.shape.columns[i]!;
      const text = cellText(column, sinceZero(column, row[i] ?? null, zero));
      return typeof row[i] === 'string' ? shortName(text) : text;
    }),
  );
}

describe.each(['run', 'ddp', 'gpt_bf16.json.gz'])('of %s', (name) => {
  const path = sample(name);
  let server: Server;
  let at: Visit;
  beforeAll(async () => {
    server = await serve(path);
    at = await visit(browser, server.url);
  });
  afterAll(() => server?.stop());

  it('the figures on top are those of the report', async () => {
    await at.go('#/');
    const lines = firstLines(path);
    const shown = await figures(at);
    expect(lines.get('Recorded')).toContain(` · ${shown.Length}`);
    const steps = lines.get('Steps')!;
    if (shown.Steps !== undefined) {
      expect(steps.startsWith(`${shown.Steps} · mean ${shown['Mean step']} `)).toBe(true);
    } else {
      const {step_ns} = JSON.parse(printed('advise', '--json', path)) as {step_ns: number};
      const [longest] = analysed(path, 'steps', 'times').sort(
        (a, b) => Number(b.mean_ns) - Number(a.mean_ns),
      );
      expect(Math.abs(Number(longest!.mean_ns) - step_ns)).toBeLessThan(1);
      expect(printed('advise', path)).toContain(`A recorded step takes ${shown['Mean step']}`);
    }
    const traced = lines.get('Traced steps') ?? steps;
    expect(traced.startsWith(`${shown['Traced steps']} · `)).toBe(true);
    expect(shown.Ranks).toBe(/^\d+/.exec(lines.get('Run')!)![0]);
  });

  it('what is about traced steps alone says so as the report does', async () => {
    const [, mark] = /\((\d+ traced steps?[^)]*)\)/.exec(printed('report', path)) ?? [];
    const marks = await at.page.$$eval('.of-traced', (all) => all.map((each) => each.textContent));
    expect(marks).toEqual(mark === undefined ? [] : [mark, mark]);
  });

  it('says what each finding brings in the words of the terminal', async () => {
    await at.go('#/');
    const said = printed('advise', '--all', '--width', '1000', path);
    const more = at.page.locator('.finding-more');
    if ((await more.count()) > 0) await more.click();
    const gains = await at.page.$$eval('.finding .what-it-brings b', (all) =>
      all.map((each) => each.textContent ?? ''),
    );
    expect(gains.length).toBe((said.match(/^ {3}gain /gm) ?? []).length);
    if (name === 'ddp') expect(gains.join()).toContain('once those above are mended');
    for (const gain of gains) expect(said).toContain(gain);
    const measured = await at.page.$$eval('.finding .measured', (all) =>
      all.map((each) => (each.textContent ?? '').split(' · ')[0]!),
    );
    expect(measured.length).toBeGreaterThan(0);
    for (const text of measured) expect(said).toContain(text);
    // The heading and the text below it speak of one step: "−1.2 ms of 10 ms", "(12.0 %)".
    const both = await at.page.$$eval('.finding:has(.what-it-brings)', (all) =>
      all.map((each) => [
        each.querySelector('.gain')!.textContent ?? '',
        each.querySelector('.what-it-brings b')!.textContent ?? '',
      ]),
    );
    const ns = (value: string, unit: string) =>
      Number(value) * {s: 1e9, ms: 1e6, µs: 1e3, ns: 1}[unit]!;
    for (const [heading, text] of both) {
      const parts = [...heading!.matchAll(/([\d.]+) (s|ms|µs|ns)\b/g)].map(([, v, u]) =>
        ns(v!, u!),
      );
      const shares = [...text!.split(';')[0]!.matchAll(/([\d.]+) %/g)].map(([, v]) => Number(v));
      const [high, whole] = parts.slice(-2);
      expect(Math.abs((100 * high!) / whole! - shares.at(-1)!)).toBeLessThan(1);
    }
  });

  it('every cell of every question is that of the command line', async () => {
    const all = analyses(JSON.parse(printed('analyze', '--list', '-f', 'json')), 'list');
    const {time} = await at.page.evaluate(async () => (await fetch('api/run')).json());
    const recorded = BigInt(time.recorded_offset_ns ?? 0);
    const times: RunTime = {
      length_ns: Number(time.length_ns),
      windows: time.windows.map((each: {rank: number; window: number; offset_ns: string}) => ({
        ...each,
        offset_ns: BigInt(each.offset_ns),
      })),
    };
    let compared = 0;
    for (const about of all) {
      await at.go(`#/ask/${about.name}`);
      await at.page.waitForSelector('.data, .remark, .state');
      const {tables} = answerOfProgram(about, path);
      for (const table of tables.filter((each) => each.rows.length > 0)) {
        const place = `main section[aria-label="${table.shape.name}"] .data tbody tr`;
        const shown = await at.page.$$eval(place, (rows) =>
          rows.map((row) =>
            [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim() ?? ''),
          ),
        );
        const wanted = expectedCells(table, 100, recorded, times).map((row) =>
          row.map((text) => text.trim()),
        );
        expect(shown, `${about.name} ${table.shape.name}`).toEqual(wanted);
        compared += wanted.length;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('nothing went wrong', () => expect(at.troubles).toEqual([]));
});

it('an occupancy that the profiler does not tell is none', async () => {
  const path = sample('gpt_bf16.json.gz');
  const server = await serve(path);
  try {
    const at = await visit(browser, server.url);
    await at.go('#/kernels');
    const rows = analysed(path, 'kernels', 'kernels', '--top', '200');
    const untold = rows.filter((row) => String(row.name).startsWith('nvjet'));
    expect(untold.length).toBeGreaterThan(0);
    for (const {occupancy_share} of untold) expect(occupancy_share).toBeNull();
    const shown = await at.page.$$eval('.data tbody tr', (all) =>
      all
        .map((row) => [row.querySelector('td')!, [...row.querySelectorAll('td')].at(-1)!])
        .map(([name, last]) => [name!.textContent, last!.textContent]),
    );
    rows.slice(0, shown.length).forEach((row, i) => {
      const share = row.occupancy_share;
      expect(shown[i]![1]).toBe(share === null ? '–' : shareText(Number(share)));
    });
  } finally {
    await server.stop();
  }
});
