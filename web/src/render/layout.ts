// Where the tracks of the timeline stand: groups with a heading, tracks below it, from the top.
import type {Track} from '../api/tracks';

export const HEADING = 28;
const AFTER_GROUP = 10;
const AFTER_TRACK = 4;
const MANY_ROWS = 14;
const MANY_RANKS = 4;

export interface TrackPlace {
  track: Track;
  y: number;
  height: number;
  row: number; // height of one row of nested events
}
export interface GroupPlace {
  name: string;
  y: number;
  open: boolean;
  tracks: number;
}
export interface Layout {
  groups: GroupPlace[];
  tracks: TrackPlace[]; // by y
  height: number;
}

export function rowHeight(track: Track): number {
  switch (track.kind) {
    case 'counter':
      return 44;
    case 'device_idle':
      return 16;
    case 'device_stream':
    case 'steps':
      return 20;
    default:
      // Python stacks are deep: their rows are lower, so that a thread still fits the screen.
      return track.depth > MANY_ROWS ? 14 : 18;
  }
}

// Work of a rank's devices stands above the threads that start it, counters come last: what belongs
// together in time is near.
const SECTIONS: Readonly<Record<Track['kind'], number>> = {
  steps: 0,
  device_idle: 1,
  device_stream: 1,
  host_thread: 2,
  recorded: 3,
  log: 3,
  counter: 4,
};
const FEW_EVENTS = 3;
// What people look for comes before what is merely there.
const COUNTERS = [/utilisation/, /power/, /memory (allocated|used)/, /queue/];

function groupOf(track: Track, devices: ReadonlyMap<number | null, string>): string {
  const rank =
    track.rank === null ? (track.group === '' ? 'run' : track.group) : `rank ${track.rank}`;
  switch (track.kind) {
    case 'steps':
      return devices.get(track.rank) ?? `${rank} · host`;
    case 'device_idle':
    case 'device_stream':
      return track.group;
    case 'host_thread':
      return `${rank} · host`;
    case 'counter':
      return track.rank === null ? rank : `${rank} · counters`;
    default:
      return `${rank} · recorded`;
  }
}

export function arranged(tracks: readonly Track[]): Track[] {
  const ranks = new Map<number | null, number>();
  const devices = new Map<number | null, string>();
  for (const track of tracks) {
    if (!ranks.has(track.rank)) ranks.set(track.rank, ranks.size);
    const isDevice = track.kind === 'device_idle' || track.kind === 'device_stream';
    if (isDevice && !devices.has(track.rank)) devices.set(track.rank, track.group);
  }
  const place = (track: Track) => ranks.get(track.rank)! * 10 + SECTIONS[track.kind];
  const isQuiet = (track: Track) =>
    Number(track.kind === 'host_thread' && track.events < FEW_EVENTS);
  const groups = [...new Set(tracks.map((track) => track.group))];
  const counterPlace = (track: Track) => {
    if (track.kind !== 'counter') return 0;
    const at = COUNTERS.findIndex((each) => each.test(track.label));
    // Machines have groups of their own, which stay in one piece.
    const group = track.rank === null ? groups.indexOf(track.group) : 0;
    return group * 10 + (at < 0 ? COUNTERS.length : at);
  };
  return tracks
    .filter((track) => track.events > 0 || track.kind === 'device_idle')
    .sort(
      (a, b) => place(a) - place(b) || isQuiet(a) - isQuiet(b) || counterPlace(a) - counterPlace(b),
    )
    .map((track) => ({...track, group: groupOf(track, devices)}));
}

// Of several ranks the counters are closed at first, of many also the threads of those that have a
// GPU, so that the ranks can be seen together.
export function closedAtFirst(tracks: readonly Track[]): Set<string> {
  const ranks = new Set(tracks.flatMap((track) => (track.rank === null ? [] : [track.rank])));
  if (ranks.size < 2) return new Set();
  const withGpu = new Set(
    tracks.filter((track) => track.kind === 'device_stream').map((track) => track.rank),
  );
  const isClosed = (track: Track) =>
    track.rank !== null &&
    (track.kind === 'counter' ||
      (ranks.size >= MANY_RANKS && SECTIONS[track.kind] > 1 && withGpu.has(track.rank)));
  return new Set(
    arranged(tracks)
      .filter(isClosed)
      .map((track) => track.group),
  );
}

// `tracks` as arranged() gives them.
export function layOutTracks(tracks: readonly Track[], closed: ReadonlySet<string>): Layout {
  const groups: GroupPlace[] = [];
  const placed: TrackPlace[] = [];
  let y = 0;
  let group: GroupPlace | null = null;
  for (const track of tracks) {
    if (group === null || group.name !== track.group) {
      if (group !== null) y += AFTER_GROUP;
      group = {name: track.group, y, open: !closed.has(track.group), tracks: 0};
      groups.push(group);
      y += HEADING;
    }
    ++group.tracks;
    if (!group.open) continue;
    const row = rowHeight(track);
    const height = track.kind === 'counter' ? row : row * Math.max(track.depth, 1);
    placed.push({track, y, height, row});
    y += height + AFTER_TRACK;
  }
  return {groups, tracks: placed, height: y + AFTER_GROUP};
}

// The tracks that a stretch of the page shows: binary search, since a run may have thousands.
export function visibleTracks(layout: Layout, top: number, height: number): TrackPlace[] {
  const {tracks} = layout;
  let low = 0;
  let high = tracks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tracks[middle]!.y + tracks[middle]!.height < top) low = middle + 1;
    else high = middle;
  }
  const found: TrackPlace[] = [];
  for (let i = low; i < tracks.length && tracks[i]!.y < top + height; ++i) found.push(tracks[i]!);
  return found;
}

// The group whose rows come first below this scroll position, where its heading is above; empty where
// a heading is there to read, or comes so soon that two would stand on each other.
export function groupInView(layout: Layout, scroll: number): string {
  const at = layout.groups.findLastIndex((group) => group.y < scroll);
  const next = layout.groups[at + 1]?.y ?? layout.height;
  return at < 0 || next - scroll < HEADING ? '' : layout.groups[at]!.name;
}
