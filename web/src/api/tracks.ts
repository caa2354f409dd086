// The rows of the timeline, events by their identity, search and selections.
import {type Decoder, list, number, object, or, orNull, record, text} from './json';

export type TrackKind =
  | 'steps'
  | 'host_thread'
  | 'device_stream'
  | 'device_idle'
  | 'recorded'
  | 'log'
  | 'counter';

export interface Track {
  id: number;
  kind: TrackKind;
  rank: number | null;
  group: string;
  label: string;
  device: number | null;
  stream: number | null;
  unit: string | null;
  depth: number;
  first_ns: number;
  last_ns: number;
  events: number;
  min: number | null;
  max: number | null;
}

export interface Tracks {
  length_ns: number;
  columns: number;
  max_level: number;
  kinds: string[];
  causes: string[];
  tracks: Track[];
}

export const tracks: Decoder<Tracks> = object<Tracks>({
  length_ns: number,
  columns: number,
  max_level: number,
  kinds: list(text),
  causes: list(text),
  tracks: list(
    object<Track>({
      id: number,
      kind: (json, where) => text(json, where) as TrackKind,
      rank: orNull(number),
      group: or(text, ''),
      label: or(text, ''),
      device: orNull(number),
      stream: orNull(number),
      unit: orNull(text),
      depth: or(number, 1),
      first_ns: or(number, 0),
      last_ns: or(number, 0),
      events: or(number, 0),
      min: orNull(number),
      max: orNull(number),
    }),
  ),
});

// Names an event for ever: what stands in addresses and evidence.
export interface EventId {
  rank: number;
  window: number;
  ordinal: number;
}

export interface EventRef extends EventId {
  track: number;
  depth: number;
  name: string;
  kind: string;
  start_ns: number;
  duration_ns: number;
}

const ref: Decoder<EventRef> = object<EventRef>({
  rank: number,
  window: number,
  ordinal: number,
  track: number,
  depth: or(number, 0),
  name: text,
  kind: text,
  start_ns: number,
  duration_ns: or(number, 0),
});

export interface EventDetails extends EventRef {
  category: string;
  self_ns: number | null;
  flags: string[];
  step: number | null;
  arguments: Record<string, unknown> | null;
  text: string | null;
  text_lost: string | null; // why arguments and text could not be read
  stack: EventRef[];
  call_stack: string[];
  module: string | null;
  parent: EventRef | null;
  children: EventRef[];
  children_count: number;
  operator: EventRef | null;
  launch: EventRef | null;
  work: EventRef[];
  work_count: number;
  forward: EventRef | null;
  backward: EventRef[];
  backward_count: number;
}

export const eventDetails: Decoder<EventDetails> = (json, where) => ({
  ...ref(json, where),
  ...object<Omit<EventDetails, keyof EventRef>>({
    category: or(text, ''),
    self_ns: orNull(number),
    flags: or(list(text), []),
    step: orNull(number),
    arguments: orNull(record),
    text: orNull(text),
    text_lost: orNull(text),
    stack: or(list(ref), []),
    call_stack: or(list(text), []),
    module: orNull(text),
    parent: orNull(ref),
    children: or(list(ref), []),
    children_count: or(number, 0),
    operator: orNull(ref),
    launch: orNull(ref),
    work: or(list(ref), []),
    work_count: or(number, 0),
    forward: orNull(ref),
    backward: or(list(ref), []),
    backward_count: or(number, 0),
  })(json, where),
});

export interface SearchResult {
  count: number;
  names: {name: string; count: number; total_ns: number}[];
  hits: EventRef[];
}

export const searchResult: Decoder<SearchResult> = object<SearchResult>({
  count: number,
  names: or(
    list(
      object<SearchResult['names'][number]>({name: text, count: number, total_ns: or(number, 0)}),
    ),
    [],
  ),
  hits: list(ref),
});

export interface Selection {
  from_ns: number;
  to_ns: number;
  events: number;
  names: {
    name: string;
    kind: string;
    count: number;
    total_ns: number;
    self_ns: number;
    longest_ns: number;
  }[];
  names_count: number;
  kinds: {kind: string; count: number; total_ns: number; self_ns: number}[];
  devices: {
    rank: number;
    device: number;
    measured_ns: number;
    busy_ns: number;
    idle_ns: number;
    causes: Record<string, number>;
  }[];
  counters: {track: number; min: number | null; max: number | null; mean: number | null}[];
  lines: {rank: number; time_ns: number; level: number; text: string}[];
  lines_count: number;
}

const byCause: Decoder<Record<string, number>> = (json, where) =>
  Object.fromEntries(
    Object.entries(record(json, where)).map(([key, value]) => [key, number(value, where)]),
  );

export const selection: Decoder<Selection> = object<Selection>({
  from_ns: number,
  to_ns: number,
  events: number,
  names: list(
    object<Selection['names'][number]>({
      name: text,
      kind: text,
      count: number,
      total_ns: number,
      self_ns: or(number, 0),
      longest_ns: or(number, 0),
    }),
  ),
  names_count: or(number, 0),
  kinds: or(
    list(
      object<Selection['kinds'][number]>({
        kind: text,
        count: number,
        total_ns: number,
        self_ns: or(number, 0),
      }),
    ),
    [],
  ),
  devices: or(
    list(
      object<Selection['devices'][number]>({
        rank: number,
        device: number,
        measured_ns: number,
        busy_ns: number,
        idle_ns: number,
        causes: or(byCause, {}),
      }),
    ),
    [],
  ),
  counters: or(
    list(
      object<Selection['counters'][number]>({
        track: number,
        min: orNull(number),
        max: orNull(number),
        mean: orNull(number),
      }),
    ),
    [],
  ),
  lines: or(
    list(object<Selection['lines'][number]>({rank: number, time_ns: number, level: number, text})),
    [],
  ),
  lines_count: or(number, 0),
});
