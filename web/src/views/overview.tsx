// The page to read first: what is wrong and what to do, where the step time goes, how busy the GPUs
// are, how the ranks compare, and what was odd about the data.
import type {Info} from '../api/run';
import type {Analysis, Answer} from '../api/tables';
import {href} from '../state/route';
import {answerOf, descriptors, readyRun, summaryOf} from '../state/run';
import {FindingsCard} from './findings';
import {NotesCard} from './notes';
import {GpuCard, MachineCard, RanksCard, RecordedCard, WhereCard} from './overview_cards';
import {Facts} from './overview_facts';
import {Empty, When} from './states';
import {StepTimesCard} from './step_times';

export function OverviewPage() {
  const run = readyRun.value!;
  const info = run.info;
  const hasTrace = (info?.run.windows ?? 0) > 0 && (info?.run.events ?? 0) > 0;
  const hasRecording = (info?.recordings.length ?? 0) > 0;
  return (
    <>
      <Facts run={run} />
      <div class="stack">
        <FindingsCard />
        <When of={descriptors.value}>
          {(all) => (
            <>
              {hasTrace && (
                <When of={summaryOf().value}>
                  {(first) =>
                    first.traced ? <TraceCards all={all} /> : <MachineCards all={all} />
                  }
                </When>
              )}
              {hasRecording && (
                <Ask all={all} name="time">
                  {(answer) => <RecordedCard answer={answer} />}
                </Ask>
              )}
              {info !== null && <MemoryFiles info={info} />}
              {!hasTrace && !hasRecording && (info?.machines ?? 0) > 0 && <Samples all={all} />}
              {!hasTrace && !hasRecording && !hasOthers(info) && (
                <section class="card" aria-label="Nothing to draw">
                  <Empty title="Nothing to draw">
                    These files hold no events, recordings, samples or memory snapshots. A trace
                    gets its events when the profiler is stopped: was it?
                  </Empty>
                </section>
              )}
            </>
          )}
        </When>
        <NotesCard notes={info?.notes ?? []} failures={info?.failures ?? []} />
      </div>
    </>
  );
}

// Whether there is anything besides traces and what processes recorded.
function hasOthers(info: Info | null): boolean {
  if (info === null) return false;
  return info.snapshots + info.memory_timelines + info.memory_stats + info.machines > 0;
}

// Files of the allocator, and the questions that they answer.
function MemoryFiles({info}: {info: Info}) {
  if (info.snapshots > 0) {
    return (
      <section class="card" aria-label="Memory">
        <h2>Memory</h2>
        <p>
          These files hold memory snapshots:{' '}
          <a href={href('ask/memory-summary')}>how much was in use</a>,{' '}
          <a href={href('ask/memory-peak')}>what filled the peak</a>,{' '}
          <a href={href('ask/memory-leaks')}>what is never freed</a>,{' '}
          <a href={href('ask/memory-timeline')}>what is in memory over time</a>.
        </p>
      </section>
    );
  }
  if (info.memory_timelines + info.memory_stats === 0) return null;
  return (
    <section class="card" aria-label="Memory">
      <h2>Memory</h2>
      {info.memory_timelines > 0 && (
        <p>
          These files hold a timeline of memory, as torch.profiler exports it:{' '}
          <a href={href('ask/memory-timeline')}>what is in memory over time</a>.
        </p>
      )}
      {info.memory_stats > 0 && (
        <p>
          These files hold figures of the allocator, as torch.cuda.memory_stats gives them:{' '}
          <a href={href('ask/memory-summary')}>how much was in use</a>.
        </p>
      )}
    </section>
  );
}

// What was sampled of machines, where nothing else was recorded.
function Samples({all}: {all: readonly Analysis[]}) {
  return (
    <>
      <section class="card" aria-label="Samples">
        <h2>Samples of a machine</h2>
        <p>
          These files hold samples of a machine, and no trace:{' '}
          <a href={href('system')}>its load, memory and power over time</a>.
        </p>
      </section>
      <MachineCards all={all} />
    </>
  );
}

function TraceCards({all}: {all: readonly Analysis[]}) {
  return (
    <div class="grid">
      <Ask all={all} name="temporal-breakdown">
        {(devices) => (
          <Ask all={all} name="steps">
            {(steps) => <WhereCard devices={devices} steps={steps} />}
          </Ask>
        )}
      </Ask>
      <Ask all={all} name="overview">
        {(overview) => (
          <>
            <GpuCard overview={overview} />
            <RanksCard overview={overview} />
          </>
        )}
      </Ask>
      <Ask all={all} name="steps">
        {(steps) => <StepTimesCard steps={steps} />}
      </Ask>
    </div>
  );
}

// Where no profiler ran, what is known of GPUs was sampled.
function MachineCards({all}: {all: readonly Analysis[]}) {
  return (
    <Ask all={all} name="system">
      {(system) => <MachineCard system={system} />}
    </Ask>
  );
}

// The answer of an analysis by name, where the program has it.
export function Ask(props: {
  all: readonly Analysis[];
  name: string;
  options?: Record<string, string>;
  children: (answer: Answer) => preact.ComponentChildren;
}) {
  const analysis = props.all.find((each) => each.name === props.name);
  if (analysis === undefined) return null;
  return <When of={answerOf(analysis, props.options).value}>{props.children}</When>;
}
