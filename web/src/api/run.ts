// What was opened: state of loading, ranks, windows, devices, notes about odd data.
import {bool, type Decoder, list, number, object, or, orNull, record, text} from './json';

export interface Progress {
  bytes_done: number;
  bytes_total: number;
  files_done: number;
  files_total: number;
}
export const progress: Decoder<Progress> = object<Progress>({
  bytes_done: number,
  bytes_total: number,
  files_done: number,
  files_total: number,
});

export interface WindowTime {
  rank: number;
  window: number;
  first_ns: number;
  last_ns: number;
  offset_ns: bigint; // exact: tables hold times of a clock that may count from 1970
}

export interface Note {
  id: string;
  severity: string;
  count: number;
  detail: string;
  meaning: string;
}

export interface Info {
  run: {
    ranks: number;
    windows: number;
    world_size: number | null;
    hosts: string[];
    backends: string[];
    span_ns: number | null;
    file_bytes: number;
    text_bytes: number;
    events: number;
    device_work: number;
    lost_data: boolean;
    start_unix_ns: bigint | null;
  };
  devices: {
    name: string;
    memory_bytes: number | null;
    compute_capability: string | null;
    multiprocessors: number | null;
  }[];
  versions: {name: string; version: string}[];
  recorded_with: string[];
  steps: {count: number; first: number | null; last: number | null; mean_ns: number | null} | null;
  recordings: {rank: number; worker: boolean; steps: number; warnings: number; errors: number}[];
  // Files beside the traces, or without one.
  snapshots: number;
  memory_timelines: number;
  memory_stats: number;
  machines: number; // of samples
  notes: Note[];
  failures: {path: string; message: string}[];
}

export interface Run {
  version: string;
  program: string;
  state: 'none' | 'loading' | 'ready' | 'failed'; // none: the server waits for a choice
  progress: Progress;
  error: string | null;
  root: string | null; // the folder below which runs can be chosen
  paths: string[];
  time: {
    start_unix_ns: bigint | null;
    length_ns: number;
    recorded_offset_ns: bigint | null; // of times since the first recording of the run began
    windows: WindowTime[];
  } | null;
  info: Info | null;
}

const whole: Decoder<bigint> = (json, where) => {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
  const digits = text(json, where);
  return BigInt(digits);
};

type Files = 'snapshots' | 'memory_timelines' | 'memory_stats' | 'machines';

const info: Decoder<Info> = (json, where) => {
  const source = record(json, where);
  const files = (of: Files) => {
    const listed = source[of]; // not there: none
    return Array.isArray(listed) ? listed.length : 0;
  };
  const base = object<Omit<Info, Files>>({
    run: object<Info['run']>({
      ranks: number,
      windows: or(number, 0),
      world_size: orNull(number),
      hosts: or(list(text), []),
      backends: or(list(text), []),
      span_ns: orNull(number),
      file_bytes: or(number, 0),
      text_bytes: or(number, 0),
      events: or(number, 0),
      device_work: or(number, 0),
      lost_data: or(bool, false),
      start_unix_ns: orNull(whole),
    }),
    devices: or(
      list(
        object<Info['devices'][number]>({
          name: or(text, ''),
          memory_bytes: orNull(number),
          compute_capability: orNull(text),
          multiprocessors: orNull(number),
        }),
      ),
      [],
    ),
    versions: or(list(object<{name: string; version: string}>({name: text, version: text})), []),
    recorded_with: or(list(text), []),
    steps: orNull(
      object<NonNullable<Info['steps']>>({
        count: number,
        first: orNull(number),
        last: orNull(number),
        mean_ns: orNull(number),
      }),
    ),
    recordings: or(
      list(
        object<Info['recordings'][number]>({
          rank: or(number, 0),
          worker: or(bool, false),
          steps: or(number, 0),
          warnings: or(number, 0),
          errors: or(number, 0),
        }),
      ),
      [],
    ),
    notes: or(
      list(
        object<Note>({
          id: text,
          severity: text,
          count: number,
          detail: or(text, ''),
          meaning: or(text, ''),
        }),
      ),
      [],
    ),
    failures: or(
      list((entry, at) => {
        if (typeof entry === 'string') return {path: '', message: entry};
        const failure = record(entry, at);
        return {
          path: or(text, '')(failure.path, at),
          message: or(text, '')(failure.message ?? failure.error, at),
        };
      }),
      [],
    ),
  })(json, where);
  return {
    ...base,
    snapshots: files('snapshots'),
    memory_timelines: files('memory_timelines'),
    memory_stats: files('memory_stats'),
    machines: files('machines'),
  };
};

const state: Decoder<Run['state']> = (json, where) => {
  const value = text(json, where);
  return value === 'ready' || value === 'failed' || value === 'none' ? value : 'loading';
};

export const run: Decoder<Run> = object<Run>({
  version: text,
  program: or(text, ''),
  state,
  progress: or(progress, {bytes_done: 0, bytes_total: 0, files_done: 0, files_total: 0}),
  error: orNull(text),
  root: orNull(text),
  paths: or(list(text), []),
  time: orNull(
    object<NonNullable<Run['time']>>({
      start_unix_ns: orNull(whole),
      length_ns: number,
      recorded_offset_ns: orNull(whole),
      windows: list(
        object<WindowTime>({
          rank: number,
          window: number,
          first_ns: number,
          last_ns: number,
          offset_ns: whole,
        }),
      ),
    }),
  ),
  info: orNull(info),
});
