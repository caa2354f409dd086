// The run that is open: watched while it loads, fetched once when it is there.
import {computed, effect, signal} from '@preact/signals';
import {type Findings, findings} from '../api/findings';
import {
  address,
  forgetToken,
  getJson,
  getNow,
  isBeingRead,
  ServerError,
  setVersion,
} from '../api/http';
import {progress as decodeProgress, run as decodeRun, type Progress, type Run} from '../api/run';
import {type Summary, summary} from '../api/summary';
import {type Analysis, type Answer, analyses, answer} from '../api/tables';
import {type Tracks, tracks} from '../api/tracks';
import {askAgain, Kept, LOADING, type Loaded, load, messageOf} from './loaded';

const AGAIN_MS = 1000;

export const run = signal<Loaded<Run>>(LOADING);
export const progress = signal<Progress | null>(null);
export const descriptors = signal<Loaded<Analysis[]>>(LOADING);

export const readyRun = computed<Run | null>(() =>
  run.value.state === 'ready' && run.value.value.state === 'ready' ? run.value.value : null,
);

// What leads from times since the first recording of the run began to those of the run.
export const recordedOffset = computed<bigint>(
  () => readyRun.value?.time?.recorded_offset_ns ?? 0n,
);

// What leads from the clocks of traces to the time of the run.
export const runTime = computed(() => readyRun.value?.time ?? null);

// The folder below which another run can be chosen.
export const root = computed<string | null>(() =>
  run.value.state === 'ready' ? run.value.value.root : null,
);

export async function fetchRun(): Promise<void> {
  try {
    const found = await getNow(decodeRun, 'api/run');
    setVersion(found.state === 'ready' ? found.version : '');
    progress.value = found.progress;
    run.value = {state: 'ready', value: found};
    if (found.state === 'loading') watch();
    else isBeingRead.value = false;
    if (found.state === 'ready') askAgain();
    document.title = found.state === 'none' ? 'stepscope' : `${titleOf(found)} · stepscope`;
  } catch (error) {
    // As many as may be are being read already: one of them will be done.
    if (error instanceof ServerError && error.code === 'busy') {
      setTimeout(() => void fetchRun(), AGAIN_MS);
      return;
    }
    run.value = {state: 'failed', message: messageOf(error)};
  }
}

// The server closed the run and reads it again: how far it is, then what was asked for.
effect(() => {
  if (isBeingRead.value) void fetchRun();
});

export function titleOf(found: Run): string {
  const names = found.paths.map((path) => path.replace(/\/+$/, '').split('/').pop() ?? path);
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(', ');
}

// Sent by the server as it happens; where the stream breaks, asking now and then does as well.
function watch(): void {
  const source = new EventSource(address('api/progress', {}, false));
  const end = () => {
    source.close();
    void fetchRun();
  };
  source.addEventListener('progress', (event) => {
    progress.value = decodeProgress(JSON.parse((event as MessageEvent<string>).data), 'progress');
  });
  source.addEventListener('ready', end);
  source.addEventListener('failed', end);
  source.addEventListener('error', () => {
    source.close();
    setTimeout(() => void fetchRun(), 500);
  });
}

export async function start(): Promise<void> {
  await forgetToken();
  load(() => getJson(analyses, 'api/analyses'), descriptors);
  await fetchRun();
}

const answers = new Kept<Answer>();
export function answerOf(analysis: Analysis, options: Readonly<Record<string, string>> = {}) {
  const query = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
  const path = `api/analyses/${analysis.name}`;
  return answers.get(`${path} ${JSON.stringify(query)}`, () =>
    getJson(answer(analysis), path, query),
  );
}

const found = new Kept<Findings>(1);
export function findingsOf() {
  return found.get('', () => getJson(findings, 'api/findings'));
}

const first = new Kept<Summary>(1);
export function summaryOf() {
  return first.get('', () => getJson(summary, 'api/summary'));
}

const drawn = new Kept<Tracks>(1);
export function tracksOf() {
  return drawn.get('', () => getJson(tracks, 'api/tracks'));
}
