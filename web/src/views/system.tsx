// What processes and machines recorded over time: load, memory and power as curves on one axis,
// then energy, steps, ranges and log lines, by the analyses that answer it; those that this program
// does not have are not there.
import {type Analysis, type Answer, type Table, tableOf} from '../api/tables';
import {onTimeline, tableTitle} from '../render/cells';
import {seriesColours} from '../render/colours';
import {isOverTime, timeCurves} from '../render/over_time';
import {LOADING, type Loaded} from '../state/loaded';
import {href} from '../state/route';
import {answerOf, descriptors, readyRun, recordedOffset} from '../state/run';
import {Drawn} from './charts/drawn';
import {Lines} from './charts/lines';
import {CopyButtons} from './copy_buttons';
import {Empty, Remarks, Waiting, When} from './states';
import {DataTable} from './table';

const FIRST = ['energy', 'system', 'time', 'throughput', 'loader', 'log'];
const TABLES: Readonly<Record<string, readonly string[]>> = {
  energy: ['run', 'devices', 'steps', 'phases'],
  system: ['machines', 'gpus', 'processes', 'missing'],
};
// Curves of which the page is full first; [analysis, table, title].
const CURVES: readonly (readonly [string, string, string])[] = [
  ['system', 'load', 'Utilisation'],
  ['energy', 'power', 'Power, in watts'],
  ['system', 'memory', 'Memory in use'],
];

function isOfRecordings(analysis: Analysis): boolean {
  return FIRST.includes(analysis.name) || !/^(trace|snapshot|either)/.test(analysis.needs);
}

function order(analysis: Analysis): number {
  const at = FIRST.indexOf(analysis.name);
  return at < 0 ? FIRST.length : at;
}

export function SystemPage() {
  const recordings = readyRun.value?.info?.recordings.length ?? 0;
  return (
    <>
      <div class="head">
        <div>
          <h1>System</h1>
          <p>What the processes of a run and the machines under it recorded over time.</p>
        </div>
      </div>
      <When of={descriptors.value}>
        {(all) => {
          const here = all.filter(isOfRecordings).sort((a, b) => order(a) - order(b));
          // A machine may have been sampled with nothing else recorded.
          const system = all.find((each) => each.name === 'system');
          const sampled: Loaded<Answer> = system === undefined ? LOADING : answerOf(system).value;
          if (recordings === 0 && sampled.state === 'loading') return <Waiting />;
          const machines = sampled.state === 'ready' && sampled.value.tables.some(hasRows);
          if (recordings === 0 && !machines) return <NotRecorded />;
          // What has nothing to show says why, after what has.
          const lacks = (analysis: Analysis) => {
            const answer = answerOf(analysis).value;
            return Number(answer.state === 'ready' && !answer.value.tables.some(hasRows));
          };
          return (
            <div class="stack">
              <OverTime all={all} />
              {[...here]
                .sort((a, b) => lacks(a) - lacks(b))
                .map((analysis) => (
                  <OneAnalysis key={analysis.name} analysis={analysis} />
                ))}
            </div>
          );
        }}
      </When>
    </>
  );
}

function hasRows(table: Table): boolean {
  return table.rows.length > 0;
}

function NotRecorded() {
  return (
    <section class="card">
      <Empty title="This run was not recorded by stepscope">
        A trace tells of a few steps only. Record a whole run with <code>stepscope.profile</code> in
        the program, or with <code>stepscope run -- python train.py</code>, and open its folder.
      </Empty>
    </section>
  );
}

function OverTime({all}: {all: readonly Analysis[]}) {
  const shown = CURVES.flatMap(([name, table, title]) => {
    const analysis = all.find((each) => each.name === name);
    if (analysis === undefined) return [];
    const answer = answerOf(analysis).value;
    const found = answer.state === 'ready' ? tableOf(answer.value, table) : undefined;
    return found !== undefined && isOverTime(found) && found.rows.length > 0
      ? [{title, table: found}]
      : [];
  });
  if (shown.length === 0) return null;
  return (
    <div class="grid">
      {shown.map(({title, table}, i) => (
        <section
          key={title}
          class={`card ${i === 0 || shown.length === 1 ? 'w12' : 'w6'}`}
          aria-label={title}
        >
          <div class="card-head">
            <h2>{title}</h2>
            <span class="tools">
              <CopyButtons table={table} />
            </span>
          </div>
          <Curves table={table} title={title} />
        </section>
      ))}
    </div>
  );
}

function Curves({table, title}: {table: Table; title: string}) {
  const {x, names, values} = timeCurves(onTimeline(table, recordedOffset.value));
  const y = table.shape.drawing!.y[0]!;
  const colours = seriesColours(names);
  return (
    <Lines
      label={`${title} over time: ${y.replaceAll('_', ' ')} of ${names.join(', ')}`}
      x={x}
      xUnit="instant"
      unit={table.shape.columns.find((column) => column.name === y)!.unit}
      steps
      gaps
      fromZero
      lines={names.map((name, i) => ({name, colour: colours[i]!, values: values[i]!}))}
    />
  );
}

function OneAnalysis({analysis}: {analysis: Analysis}) {
  const wanted = TABLES[analysis.name];
  return (
    <section class="card" aria-label={analysis.title}>
      <div class="card-head">
        <div>
          <h2>{analysis.title}</h2>
          <p>{analysis.question}</p>
        </div>
        <a href={href(`ask/${analysis.name}`)}>All of it</a>
      </div>
      <When of={answerOf(analysis).value}>
        {(answer) => {
          const drawn = answer.tables.filter(
            (table) =>
              table.rows.length > 0 &&
              !isOverTime(table) &&
              (wanted?.includes(table.shape.name) ?? true),
          );
          return (
            <>
              <Remarks texts={answer.remarks} />
              {drawn.slice(0, wanted?.length ?? 2).map((table) => (
                <div key={table.shape.name} class="one-table">
                  <h3 class="table-title">{tableTitle(table.shape.name)}</h3>
                  <Drawn table={table} />
                  <DataTable table={table} most={10} />
                </div>
              ))}
            </>
          );
        }}
      </When>
    </section>
  );
}
