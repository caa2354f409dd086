// Which colour means what. Parts of a step and kinds of events keep theirs on every page; the rest
// take the series colours in order. All are CSS variables of style/theme.css.

const PARTS: Readonly<Record<string, string>> = {
  // what a step is made of
  kernel: '--s0',
  compute: '--s0',
  busy: '--s0',
  memcpy: '--s2',
  exposed_memory: '--s2',
  memset: '--s6',
  communication: '--s3',
  exposed_communication: '--s3',
  runtime: '--s1',
  dataloader: '--s5',
  cpu_exec: '--s4',
  other: '--s7',
  idle: '--rest',
  // bounds and hiding
  hidden: '--s4',
  exposed: '--s5',
  gpu_busy: '--s0',
  gpu_idle: '--rest',
  roof: '--s4',
  lost: '--rest',
};

// Why a device waits; the names are the server's.
const CAUSES: Readonly<Record<string, string>> = {
  host: '--s5',
  kernel: '--s2',
  dependency: '--s6',
  communication: '--s3',
  start: '--s7',
  end: '--s4',
  other: '--rest',
};

const SERIES = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7', '--rest'];

function plain(name: string): string {
  return name.replace(/_(ns|share|bytes)$/, '');
}

export function seriesColours(names: readonly string[], causes = false): string[] {
  const known = causes ? CAUSES : PARTS;
  const all = names.every((name) => plain(name) in known);
  return names.map((name, i) => `var(${all ? known[plain(name)] : SERIES[i % SERIES.length]})`);
}

export function causeVariable(cause: string): string {
  return CAUSES[cause] ?? '--rest';
}

// What each cause means, in a line: the words of docs/metrics/idle-time.md.
export const CAUSE_TEXT: Readonly<Record<string, string>> = {
  host: 'the call that launches the next work had not returned',
  kernel: 'a short pause before work that was already launched',
  dependency: 'queued work waited for work on another stream',
  communication: 'queued work waited for communication on another stream',
  start: 'before the first work',
  end: 'after the last work',
  other: 'the work was launched and did not begin; the trace does not say why',
};

export const KIND_TEXT: Readonly<Record<string, string>> = {
  cpu_op: 'operator of the framework, on the host',
  annotation: 'range named in the code',
  python: 'Python call',
  runtime: "call into the GPU's runtime",
  driver: "call into the GPU's driver",
  kernel: 'kernel: a program running on the GPU',
  memcpy: 'copy of memory by the GPU',
  memset: 'filling of memory by the GPU',
  gpu_annotation: 'range named in the code, as its work ran on the GPU',
  sync: 'wait for the GPU',
  device_marker: 'mark in a stream',
  overhead: "the profiler's own cost",
  memory: 'allocation or release of memory',
  collective: 'communication between ranks',
  profiler: 'the recording itself',
  other: 'something else',
};

// Base colour of a kind in the timeline.
const KINDS: Readonly<Record<string, string>> = {
  cpu_op: '--s4',
  annotation: '--s6',
  python: '--s7',
  runtime: '--s1',
  driver: '--s1',
  kernel: '--s0',
  memcpy: '--s2',
  memset: '--s2',
  gpu_annotation: '--s6',
  sync: '--s5',
  collective: '--s3',
  step: '--s7',
  recorded: '--s6',
};
export function kindVariable(kind: string): string {
  return KINDS[kind] ?? '--s7';
}

const LEVELS = ['line', 'debug line', 'info', 'warning', 'error', 'critical'];

// Of a log line, counted as Python's logging does.
export function levelText(level: number): string {
  return LEVELS[Math.floor(level / 10)] ?? 'log line';
}
