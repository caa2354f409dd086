import {describe, expect, it} from 'vitest';
import type {Column, Table} from '../api/tables';
import {
  cellText,
  columnAbout,
  columnTitle,
  firstInstant,
  middleCut,
  middleCuts,
  onTimeline,
  shortName,
  sinceZero,
  tableTitle,
  zeroOf,
} from './cells';

const column = (name: string, unit: Column['unit'], type = 'integer', about = ''): Column => ({
  name,
  unit,
  type,
  about,
});

describe('cells', () => {
  it('are written by the unit of their column', () => {
    expect(cellText(column('busy_ns', 'ns'), 1_234_000)).toBe('1.23 ms');
    expect(cellText(column('peak_bytes', 'bytes'), 1024 ** 3)).toBe('1.00 GiB');
    expect(cellText(column('share', 'share', 'real'), 0.1287)).toBe('12.9 %');
    expect(cellText(column('calls', 'count'), 10858)).toBe('10,858');
    expect(cellText(column('rank', 'number'), 1234)).toBe('1234');
    expect(cellText(column('rate', 'per_second', 'real'), 24.077)).toBe('24.1 /s');
    expect(cellText(column('big', 'number'), 9007199254740993n)).toBe('9007199254740993');
  });
  it('nothing is a dash, or what the column says of it', () => {
    expect(cellText(column('x', 'ns'), null)).toBe('–');
    const name = column('name', '', 'text', 'of the kernel; null: all the others together');
    expect(cellText(name, null)).toBe('(all the others together)');
  });
  it('titles leave the unit to the values', () => {
    expect(columnTitle(column('device_self_ns', 'ns'))).toBe('device self');
    expect(columnTitle(column('moved_bytes_per_second', 'bytes_per_second'))).toBe('moved');
    expect(columnTitle(column('step_ns', 'ns'))).toBe('step time');
    expect(columnTitle(column('sm_efficiency', 'share'))).toBe('SM efficiency');
    expect(columnTitle(column('fp32_tflop_per_second', ''))).toBe('fp32 TFLOP/s');
  });
  it('no two columns of a table have the same title', () => {
    const late = column('late', 'count');
    const lateTime = column('late_ns', 'ns');
    const moved = column('moved_bytes', 'bytes');
    const rate = column('moved_bytes_per_second', 'bytes_per_second', 'real');
    const all = [late, lateTime, moved, rate];
    expect(all.map((each) => columnTitle(each, all))).toEqual([
      'late',
      'late time',
      'moved bytes',
      'moved bytes per second',
    ]);
  });
});

describe('instants', () => {
  const start = column('start_ns', 'instant');
  const table = (rows: (number | bigint | null)[]): Table => ({
    shape: {name: 't', about: '', columns: [start], drawing: null},
    rows: rows.map((value) => [value]),
  });
  it('of an old clock count from the first, to the nanosecond', () => {
    const old = table([1794701196434756879n, null, 1794701196434756878n]);
    expect(sinceZero(start, 1794701196434756879n, zeroOf(old, 0n))).toBe(1);
  });
  it('of recordings are those of the timeline, in tables and in charts', () => {
    const at = {...start, about: 'when it began, since the first recording of the run began'};
    const late = {
      shape: {name: 't', about: '', columns: [at], drawing: null},
      rows: [[727_242_309], [null], [4_000_000_000_000]],
    };
    const zero = zeroOf(late, -22_800_704n);
    expect(zero.first).toBe(0n); // also where the first is hours away
    expect(sinceZero(at, 727_242_309, zero)).toBe(704_441_605);
    expect(onTimeline(late, -22_800_704n).rows).toEqual([
      [704_441_605],
      [null],
      [3_999_977_199_296],
    ]);
    expect(columnAbout(at)).toBe('when it began, in the time of the run, as in the timeline');
  });
  it('of a trace are those of the timeline, where its windows have one clock', () => {
    const base = 1794701196434756000n;
    const rows = [
      [0, 0, base + 879n],
      [0, 0, null],
      [1, 0, base + 78n],
    ];
    const columns = [column('rank', 'number'), column('window', 'number'), start];
    const late = {shape: {name: 't', about: '', columns, drawing: null}, rows};
    const window = (rank: number, offset_ns: bigint) => ({rank, window: 0, offset_ns});
    const windows = [window(0, 100n - base), window(1, 100n - base), window(2, 7n)];
    const time = {length_ns: 1000, windows};
    expect(sinceZero(start, base + 879n, zeroOf(late, 0n, time))).toBe(979);
    expect(onTimeline(late, 0n, time).rows.map((row) => row[2])).toEqual([979, null, 178]);
    // Windows with several clocks, and a clock of something else, count from the first.
    const several = {...time, windows: [windows[0]!, window(1, 50n - base)]};
    expect(sinceZero(start, base + 879n, zeroOf(late, 0n, several))).toBe(801);
    const another = {...time, windows: [window(0, 0n), window(1, 0n)]};
    expect(sinceZero(start, base + 879n, zeroOf(late, 0n, another))).toBe(801);
    expect(onTimeline(late, 0n, another).rows.map((row) => row[2])).toEqual([801, null, 0]);
  });
  it('of a trace are not taken for those of recordings', () => {
    expect(sinceZero(start, 5, zeroOf(table([5]), -3n))).toBe(5);
    expect(onTimeline(table([5]), -3n).rows).toEqual([[5]]);
  });
  it('near the start stay as they are', () => {
    expect(firstInstant(table([5, 3]))).toBe(0n);
  });
});

describe('names', () => {
  it('lose what is only noise', () => {
    const name =
      'void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::bfloat16_copy_kernel_cuda)';
    expect(shortName(name)).toBe(
      'vectorized_elementwise_kernel<8, bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, array<char*, 2ul>>',
    );
    expect(shortName('aten::mm')).toBe('aten::mm');
    expect(shortName('train.py(12): main')).toBe('train.py(12): main');
  });
});

describe('names too long for their place', () => {
  it('keep their beginning and their end', () => {
    const cut = middleCut('sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3', 30);
    expect(cut).toHaveLength(30);
    expect(cut.startsWith('sm80_xmma_gemm')).toBe(true);
    expect(cut.endsWith('x64x8_stage3')).toBe(true);
    expect(cut).toContain('…');
    expect(middleCut('short', 30)).toBe('short');
  });
  it('stay distinct where they stand together', () => {
    const names = ['64x64', '128x64', '128x128'].map(
      (tile) => `sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize${tile}x8_stage3_kernel__5x_cublas`,
    );
    const cuts = middleCuts([...names, 'aten::mm'], 34);
    expect(new Set(cuts).size).toBe(4);
    for (const cut of cuts) expect(cut.length).toBeLessThanOrEqual(34);
    expect(cuts[0]).toContain('64x64');
    expect(cuts[3]).toBe('aten::mm');
    expect(middleCuts([names[0]!, names[0]!], 34)[0]).toBe(middleCut(names[0]!, 34));
  });
});

it('titles of tables are words', () => {
  expect(['gpus', 'host_ops', 'tensor_cores'].map(tableTitle)).toEqual([
    'GPUs',
    'Host ops',
    'Tensor cores',
  ]);
});
