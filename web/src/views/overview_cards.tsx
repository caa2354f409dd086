// The cards of the overview, each drawn from one answer.
import {isUnmarked, type Summary} from '../api/summary';
import {type Answer, columnIndex, numberAt, type Table, tableOf, valueAt} from '../api/tables';
import {seriesColours} from '../render/colours';
import {bytesText, durationText, numberText, shareText} from '../render/numbers';
import {drawnRanks, drawnText, slowestRank} from '../render/ranks';
import {href} from '../state/route';
import {summaryOf} from '../state/run';
import {Bars, Legend} from './charts/bars';
import {Columns} from './charts/columns';
import {CopyButtons} from './copy_buttons';
import {DataTable} from './table';

const RANKS_SHOWN = 8;

export function columnOf(table: Table, name: string) {
  return table.shape.columns[columnIndex(table.shape, name)];
}

export function ranksOf(table: Table): (number | null)[] {
  return [...new Set(table.rows.map((row) => numberAt(table, row, 'rank')))];
}

function stackedLines(
  table: Table,
  names: readonly string[],
  label: (row: Table['rows'][number]) => string,
  ranks: readonly (number | null)[],
) {
  const colours = seriesColours(names);
  const drawn = table.rows.filter((row) => ranks.includes(numberAt(table, row, 'rank')));
  return drawn.map((row) => {
    const sum = names.reduce((total, name) => total + (numberAt(table, row, name) ?? 0), 0);
    return {
      label: label(row),
      text: durationText(sum),
      parts: names.map((name, i) => {
        const value = numberAt(table, row, name) ?? 0;
        const title = name.replace(/_(ns|share)$/, '').replaceAll('_', ' ');
        const share = sum > 0 ? value / sum : 0;
        return {
          name: title,
          value: share,
          colour: colours[i]!,
          text: `${durationText(value)} · ${shareText(share)}\n${columnOf(table, name)?.about ?? ''}`,
        };
      }),
    };
  });
}

// What the report says after titles that are about traced steps alone.
export function OfTraced() {
  const first = summaryOf().value;
  if (first.state !== 'ready' || first.value.traced_mark === null) return null;
  return <span class="of-traced">{first.value.traced_mark}</span>;
}

// Whether the one step there is stands for the whole recording.
export function isWholeOne(): boolean {
  const first = summaryOf().value;
  return first.state === 'ready' && isUnmarked(first.value);
}

export function areGuessed(): boolean {
  const first = summaryOf().value;
  return first.state === 'ready' && first.value.guessed_steps;
}

// GPU time by what it does, and the average step with every moment counted once.
export function WhereCard({devices, steps}: {devices: Answer; steps: Answer}) {
  const gpu = tableOf(devices, 'devices');
  const parts = tableOf(steps, 'parts');
  const gpuParts = ['compute_ns', 'exposed_communication_ns', 'exposed_memory_ns', 'idle_ns'];
  const hasGpu = gpu?.rows.some((row) => numberAt(gpu, row, 'idle_ns') !== null) === true;
  const ranks = parts === undefined ? [] : ranksOf(parts);
  const names =
    parts === undefined
      ? []
      : [...new Set(parts.rows.map((row) => String(valueAt(parts, row, 'part'))))];
  const colours = seriesColours(names);
  const slowest = slowestRank(steps);
  const ofGpus = gpu === undefined ? [] : ranksOf(gpu);
  const drawn = drawnRanks(ranks.length > 0 ? ranks : ofGpus, slowest, RANKS_SHOWN);
  const text = drawnText(drawn, Math.max(ranks.length, ofGpus.length), slowest);
  const left = text !== null && (
    <>
      {` ${text} `}
      <a href={href(hasGpu ? 'ask/temporal-breakdown' : 'ask/steps')}>All of them</a>
    </>
  );
  const shareOf = (rank: number | null, name: string) => {
    const row = parts?.rows.find(
      (each) => numberAt(parts, each, 'rank') === rank && valueAt(parts, each, 'part') === name,
    );
    return {
      share: numberAt(parts!, row, 'share') ?? 0,
      mean: numberAt(parts!, row, 'mean_ns') ?? 0,
    };
  };
  const whole = isWholeOne();
  const title = whole ? 'Where the time goes' : 'Where the step time goes';
  return (
    <section class="card w8" aria-label={title}>
      <h2>
        {title}
        <OfTraced />
      </h2>
      {whole && (
        <p>
          No steps are marked, so that this is the whole recording: mark them by calling{' '}
          <code>prof.step()</code> once a step, or name them with{' '}
          <code>stepscope serve --steps</code>.
        </p>
      )}
      {gpu !== undefined && hasGpu && (
        <>
          <p>
            {whole ? 'Wall time' : 'The wall time of the steps'} as each GPU spends it. Idle: it has
            nothing to do.
            {left}
          </p>
          <Bars
            label={whole ? 'GPU time' : 'GPU time of the steps'}
            whole={1}
            lines={stackedLines(
              gpu,
              gpuParts,
              (row) => `rank ${numberAt(gpu, row, 'rank')}`,
              drawn,
            )}
          />
          <Legend
            items={gpuParts.map((name, i) => ({
              name: name.replace('_ns', '').replaceAll('_', ' '),
              colour: seriesColours(gpuParts)[i]!,
              tip: columnOf(gpu, name)?.about ?? '',
              ...(gpu.rows.length === 1 ? {share: ratio(gpu, name, gpuParts)} : {}),
            }))}
          />
        </>
      )}
      {parts !== undefined && ranks.length > 0 && (
        <>
          <h3 class="sub">
            {whole ? 'Every' : 'The average step, every'} moment counted once, for the first part
            that applies
            {!hasGpu && left}
          </h3>
          <Bars
            label={whole ? 'Parts of the recording' : 'Parts of the average step'}
            whole={1}
            lines={drawn.map((rank) => ({
              label: `rank ${rank}`,
              text: durationText(
                Math.round(names.reduce((sum, name) => sum + shareOf(rank, name).mean, 0)),
              ),
              parts: names.map((name, i) => {
                const {share, mean} = shareOf(rank, name);
                return {
                  name,
                  value: share,
                  colour: colours[i]!,
                  text: `${durationText(Math.round(mean))} · ${shareText(share)}`,
                };
              }),
            }))}
          />
          <Legend
            items={names.map((name, i) => ({
              name: name.replaceAll('_', ' '),
              colour: colours[i]!,
              ...(ranks.length === 1 ? {share: shareOf(ranks[0]!, name).share} : {}),
            }))}
          />
        </>
      )}
      <div class="card-links small">
        {hasGpu && <a href={href('ask/idle-time')}>Why the GPU waits</a>}
        {hasGpu && <a href={href('ask/stalls')}>What on the host keeps it waiting</a>}
        {!whole && <a href={href('ask/steps')}>All steps</a>}
        <span class="room" />
        {parts !== undefined && (
          <CopyButtons
            table={parts}
            of={whole ? 'the parts of the recording' : 'the parts of the average step'}
          />
        )}
      </div>
    </section>
  );
}

function ratio(table: Table, name: string, of: readonly string[]): number {
  const row = table.rows[0];
  const sum = of.reduce((total, each) => total + (numberAt(table, row, each) ?? 0), 0);
  return sum > 0 ? (numberAt(table, row, name) ?? 0) / sum : 0;
}

export function GpuCard({overview}: {overview: Answer}) {
  const devices = tableOf(overview, 'devices');
  const first = summaryOf().value;
  const said =
    first.state === 'ready'
      ? first.value.facts.find((fact) => fact.name === 'GPU')?.text
      : undefined;
  if (devices === undefined || devices.rows.length === 0) {
    return (
      <section class="card w4">
        <h2>GPU</h2>
        <p>
          {said === undefined
            ? 'The trace has no GPU work: it was recorded on the CPU alone, or without CUDA activities.'
            : `${said.charAt(0).toUpperCase()}${said.slice(1)}.`}
        </p>
      </section>
    );
  }
  const figures = ['busy_share', 'sm_efficiency', 'occupancy', 'peak_reserved_share'];
  const mean = (name: string) => {
    const values = devices.rows
      .map((row) => numberAt(devices, row, name))
      .filter((value) => value !== null);
    return values.length === 0
      ? null
      : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const peak = Math.max(
    ...devices.rows.map((row) => numberAt(devices, row, 'peak_reserved_bytes') ?? 0),
  );
  return (
    <section class="card w4" aria-label="GPU summary">
      <h2>{devices.rows.length === 1 ? 'The GPU' : `${devices.rows.length} GPUs, on average`}</h2>
      <p>{String(valueAt(devices, devices.rows[0], 'name') ?? '')}</p>
      <dl class="meters">
        {figures.map((name) => {
          const value = mean(name);
          const title = {
            busy_share: 'busy',
            sm_efficiency: 'SM efficiency',
            occupancy: 'occupancy',
            peak_reserved_share: 'memory at its peak',
          }[name]!;
          return value === null ? null : (
            <div key={name} data-tip={columnOf(devices, name)?.about}>
              <dt>{title}</dt>
              <dd>
                {shareText(value)}
                {name === 'peak_reserved_share' && peak > 0 && <i>{` · ${bytesText(peak)}`}</i>}
              </dd>
              <span class="meter" aria-hidden="true">
                <i style={{width: `${Math.min(value, 1) * 100}%`}} />
              </span>
            </div>
          );
        })}
      </dl>
      {mean('busy_share') === null ? (
        <p class="soft">The trace has none of its work, so that how busy it was is not known.</p>
      ) : (
        <p class="card-links small">
          <a href={href('ask/mfu')}>How much of its arithmetic is used</a>
          <a href={href('ask/launches')}>What launching costs</a>
        </p>
      )}
      <div class="card-tools tools">
        <CopyButtons table={devices} of="what is known of each GPU" />
      </div>
    </section>
  );
}

const RANK_COLUMNS = [
  'rank',
  'steps',
  'step_mean_ns',
  'step_median_ns',
  'step_p95_ns',
  'steps_per_second',
  'kernel_share',
  'communication_share',
  'dataloader_share',
  'cpu_exec_share',
];

export function RanksCard({overview}: {overview: Answer}) {
  const ranks = tableOf(overview, 'ranks');
  const run = tableOf(overview, 'run');
  if (ranks === undefined || ranks.rows.length < 2) return null;
  const spread = run === undefined ? null : numberAt(run, run.rows[0], 'rank_spread');
  const slowest = run === undefined ? null : numberAt(run, run.rows[0], 'slowest_rank');
  return (
    <section class="card w12" aria-label="Ranks at a glance">
      <h2>Ranks at a glance</h2>
      {spread !== null && slowest !== null && (
        <p>
          {spread < 1.02
            ? 'All ranks take about the same time for a step.'
            : `Rank ${slowest} is the slowest: its average step is ${numberText(spread)} times that of the fastest.`}
        </p>
      )}
      <DataTable table={ranks} chosen={RANK_COLUMNS} />
    </section>
  );
}

// How busy machines and their GPUs were, by what was sampled of them.
export function MachineCard({system}: {system: Answer}) {
  const shown = ['machines', 'gpus'].flatMap((name) => tableOf(system, name) ?? []);
  const full = shown.filter((table) => table.rows.length > 0);
  if (full.length === 0) return null;
  return (
    <section class="card" aria-label="Machines">
      <h2>Machines</h2>
      <p>
        What was sampled of them. <a href={href('system')}>Over time</a>
      </p>
      {full.map((table) => (
        <DataTable key={table.shape.name} table={table} />
      ))}
    </section>
  );
}

function recordedLine({facts}: Summary): string {
  const steps = facts.find((fact) => fact.name === 'Steps')?.text;
  return steps === undefined
    ? 'What the processes recorded of themselves, traced or not. '
    : `${steps}. `;
}

// What every process recorded of itself, also where nothing was traced.
export function RecordedCard({answer}: {answer: Answer}) {
  const first = summaryOf().value;
  const times = tableOf(answer, 'times');
  const steps = tableOf(answer, 'steps');
  if (times === undefined || times.rows.length === 0) return null;
  const rank = numberAt(times, times.rows[0], 'rank');
  const rows = steps?.rows.filter((row) => numberAt(steps, row, 'rank') === rank) ?? [];
  return (
    <section class="card" aria-label="Recorded steps">
      <h2>All recorded steps</h2>
      <p>
        {first.state === 'ready' && recordedLine(first.value)}
        {times.rows.length > 1 && `Drawn: rank ${rank}. `}
        <a href={href('ask/time')}>Time by range</a>
      </p>
      {steps !== undefined && rows.length > 0 && (
        <Columns
          label="Time of each recorded step"
          unit="ns"
          names={rows.map((row) => `step ${numberAt(steps, row, 'step')}`)}
          parts={[
            {
              name: 'step',
              colour: 'var(--s0)',
              values: rows.map((row) => numberAt(steps, row, 'step_ns') ?? 0),
            },
          ]}
        />
      )}
      <DataTable table={times} />
    </section>
  );
}
