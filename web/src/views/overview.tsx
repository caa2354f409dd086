// The page to read first: what is wrong and what to do, where the step time goes, how busy the GPUs
// are, how the ranks compare, and what was odd about the data.
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
              {(info?.snapshots ?? 0) > 0 && (
                <section class="card">
                  <h2>Memory</h2>
                  <p>
                    These files hold memory snapshots:{' '}
                    <a href={href('ask/memory-summary')}>how much was in use</a>,{' '}
                    <a href={href('ask/memory-peak')}>what filled the peak</a>,{' '}
                    <a href={href('ask/memory-leaks')}>what is never freed</a>,{' '}
                    <a href={href('ask/memory-timeline')}>what is in memory over time</a>.
                  </p>
                </section>
              )}
              {!hasTrace && !hasRecording && (info?.snapshots ?? 0) === 0 && (
                <section class="card" aria-label="Nothing to draw">
                  <Empty title="Nothing to draw">
                    These files hold no events, recordings or memory snapshots. A trace gets its
                    events when the profiler is stopped: was it?
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
