import {describe, expect, it} from 'vitest';
import type {Track} from '../api/tracks';
import {arranged, closedAtFirst, groupInView, layOutTracks, visibleTracks} from './layout';

const track = (
  id: number,
  group: string,
  kind: Track['kind'] = 'host_thread',
  depth = 3,
  events = 9,
): Track => ({
  id,
  kind,
  rank: 0,
  group,
  label: `t${id}`,
  device: null,
  stream: null,
  unit: null,
  depth,
  first_ns: 0,
  last_ns: 1,
  events,
  min: null,
  max: null,
});

const tracks = [track(0, 'rank 0'), track(1, 'rank 0', 'counter'), track(2, 'rank 1')];

describe('the arrangement', () => {
  it('has devices above threads, counters last, and every group in one piece', () => {
    const mixed = [
      {...track(0, 'rank 0'), kind: 'steps' as const},
      {...track(1, 'rank 0 · GPU 0'), kind: 'device_stream' as const},
      {...track(2, 'rank 0 · GPU 0'), kind: 'counter' as const},
      {...track(3, 'rank 0'), events: 1},
      track(4, 'rank 0'),
      {...track(5, 'rank 1'), rank: 1},
      {...track(6, 'rank 0'), kind: 'log' as const, events: 0},
    ];
    expect(arranged(mixed).map((each) => [each.id, each.group])).toEqual([
      [0, 'rank 0 · GPU 0'],
      [1, 'rank 0 · GPU 0'],
      [4, 'rank 0 · host'],
      [3, 'rank 0 · host'],
      [2, 'rank 0 · counters'],
      [5, 'rank 1 · host'],
    ]);
  });
});

it('counters that people look for come first, machine by machine', () => {
  const counter = (id: number, group: string, label: string, rank: number | null) => ({
    ...track(id, group, 'counter'),
    label,
    rank,
  });
  const mixed = [
    counter(0, 'rank 0 · GPU 0', 'GPU 0 copies DtoD', 0),
    counter(1, 'rank 0 · GPU 0', 'GPU 0 memory allocated', 0),
    counter(2, 'rank 0 · GPU 0', 'GPU 0 queue length, stream 7', 0),
    counter(3, 'rank 0 · GPU 0', 'GPU 0 utilisation', 0),
    counter(4, 'node a', 'disk reads', null),
    counter(5, 'node a', 'GPU 0 power', null),
    counter(6, 'node b', 'GPU 0 power', null),
  ];
  expect(arranged(mixed).map((each) => each.id)).toEqual([3, 1, 2, 0, 5, 4, 6]);
});

describe('what is closed at first', () => {
  const ofRank = (rank: number, withGpu: boolean) => [
    ...(withGpu ? [{...track(0, `rank ${rank} · GPU 0`, 'device_stream'), rank}] : []),
    {...track(1, `rank ${rank}`), rank},
    {...track(2, `rank ${rank}`, 'counter'), rank},
  ];
  const ofRanks = (count: number, withGpu: boolean) =>
    Array.from({length: count}, (_, rank) => ofRank(rank, withGpu)).flat();
  it('nothing of one rank', () => expect([...closedAtFirst(ofRanks(1, true))]).toEqual([]));
  it('of several their counters', () => {
    expect([...closedAtFirst(ofRanks(2, true))]).toEqual([
      'rank 0 · counters',
      'rank 1 · counters',
    ]);
  });
  it('of many the threads, too, where there are GPUs to look at', () => {
    const closed = closedAtFirst(ofRanks(8, true));
    expect(closed.has('rank 7 · host')).toBe(true);
    expect(closed.has('rank 7 · GPU 0')).toBe(false);
    expect(closedAtFirst(ofRanks(8, false)).has('rank 7 · host')).toBe(false);
  });
});

describe('the layout', () => {
  it('stacks tracks below the heading of their group without overlap', () => {
    const layout = layOutTracks(tracks, new Set());
    expect(layout.groups.map((group) => [group.name, group.tracks])).toEqual([
      ['rank 0', 2],
      ['rank 1', 1],
    ]);
    for (let i = 1; i < layout.tracks.length; ++i) {
      const above = layout.tracks[i - 1]!;
      expect(layout.tracks[i]!.y).toBeGreaterThan(above.y + above.height);
    }
    expect(layout.height).toBeGreaterThan(layout.tracks.at(-1)!.y);
  });
  it('a closed group keeps its heading only', () => {
    const layout = layOutTracks(tracks, new Set(['rank 0']));
    expect(layout.tracks.map((place) => place.track.id)).toEqual([2]);
    expect(layout.groups[0]!.open).toBe(false);
  });
  it('finds what a stretch of the page shows', () => {
    const layout = layOutTracks(
      Array.from({length: 300}, (_, i) => track(i, 'all')),
      new Set(),
    );
    const top = layout.tracks[100]!.y;
    const seen = visibleTracks(layout, top, 200).map((place) => place.track.id);
    expect(seen[0]).toBeLessThanOrEqual(100);
    expect(seen).toContain(102);
    expect(seen.length).toBeLessThan(8);
  });
  it('knows the group of the first rows in view once its heading is scrolled away', () => {
    const layout = layOutTracks(
      Array.from({length: 40}, (_, i) => track(i, i < 20 ? 'one' : 'two')),
      new Set(),
    );
    const second = layout.groups[1]!.y;
    expect(groupInView(layout, 0)).toBe('');
    expect(groupInView(layout, 30)).toBe('one');
    expect(groupInView(layout, second - 10)).toBe('');
    expect(groupInView(layout, second)).toBe('');
    expect(groupInView(layout, second + 30)).toBe('two');
  });
});
