// The program under test: its server on a sample, and its command line for the numbers that the
// page must show.
import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {resolve} from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
export const PROGRAM = resolve(ROOT, process.env.STEPSCOPE_BIN ?? 'build/stepscope');
const PAGE = resolve(ROOT, process.env.STEPSCOPE_WEB_OUT ?? 'build/web');

export function sample(name: string): string {
  return resolve(ROOT, 'examples/data', name);
}

export interface Server {
  url: string; // with its token
  stop(): Promise<void>;
}

export function serve(...paths: string[]): Promise<Server> {
  return serveAt('0', ...paths); // any port that is free
}

export async function serveAt(port: string, ...paths: string[]): Promise<Server> {
  const child: ChildProcess = spawn(
    PROGRAM,
    ['serve', '--no-open', '--port', port, '--assets', PAGE, ...paths],
    {stdio: ['ignore', 'pipe', 'pipe']},
  );
  let said = '';
  const url = await new Promise<string>((found, failed) => {
    const read = (data: Buffer) => {
      said += data.toString();
      const address = /http:\/\/\S+token=\S+/.exec(said);
      if (address !== null) found(address[0]);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    url,
    stop: () =>
      new Promise((done) => {
        child.once('exit', () => done());
        child.kill('SIGINT');
      }),
  };
}

type Rows = Record<string, number | string | null>[];

// A table of an analysis as the command line prints it for machines.
export function analysed(
  path: string,
  analysis: string,
  table: string,
  ...options: string[]
): Rows {
  const text = execFileSync(PROGRAM, ['analyze', analysis, '-f', 'json', ...options, path], {
    maxBuffer: 1 << 28,
  }).toString();
  return (JSON.parse(text) as {tables: Record<string, Rows>}).tables[table]!;
}

export function printed(...words: string[]): string {
  return execFileSync(PROGRAM, words, {maxBuffer: 1 << 28}).toString();
}
