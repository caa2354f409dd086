// How near operators and kernels come to what the GPU can do.
import {type Analysis, type Answer, tableOf} from '../api/tables';
import {cellText, columnTitle} from '../render/cells';
import {refine, route} from '../state/route';
import {answerOf, descriptors} from '../state/run';
import {optionsOf, Settings} from './ask';
import {Legend} from './charts/bars';
import {BOUNDS, RooflineChart} from './charts/roofline';
import {FactList} from './fact_list';
import {Empty, Remarks, When} from './states';
import {DataTable} from './table';

const CHOICES = [
  {table: 'operators', title: 'Operators'},
  {table: 'kernels', title: 'Kernels'},
];
const COLUMNS = [
  'rank',
  'call',
  'kernel',
  'calls',
  'count',
  'device_ns',
  'peak_share',
  'bandwidth_share',
  'bound',
  'lost_ns',
  'tflop_per_second',
  'intensity',
  'arithmetic',
];

export function RooflinePage() {
  return (
    <When of={descriptors.value}>
      {(all) => {
        const analysis = all.find((each) => each.name === 'roofline');
        return analysis === undefined ? (
          <Empty title="This program has no roofline" />
        ) : (
          <Page analysis={analysis} />
        );
      }}
    </When>
  );
}

function Page({analysis}: {analysis: Analysis}) {
  const by = route.value.params.by === 'kernels' ? 'kernels' : 'operators';
  return (
    <>
      <div class="head">
        <div>
          <h1>Roofline</h1>
          <p>
            The slope is what the memory can feed, the flat part what the GPU can compute. Points
            far below have time to win; the larger a point, the longer it took.
          </p>
        </div>
        <div class="segments" role="group" aria-label="Points are">
          {CHOICES.map((choice) => (
            <button
              type="button"
              key={choice.table}
              aria-pressed={choice.table === by}
              onClick={() => refine({by: choice.table})}
            >
              {choice.title}
            </button>
          ))}
        </div>
      </div>
      <Settings analysis={analysis} only={['top', 'latency']} defaults={{top: '100'}} />
      <When of={answerOf(analysis, {top: '100', ...optionsOf(analysis)}).value}>
        {(answer) => <Body answer={answer} by={by} />}
      </When>
    </>
  );
}

function Body({answer, by}: {answer: Answer; by: string}) {
  const table = tableOf(answer, by);
  const devices = tableOf(answer, 'devices');
  return (
    <div class="stack">
      <Remarks texts={answer.remarks} />
      {table === undefined || devices === undefined || table.rows.length === 0 ? (
        <section class="card" aria-label={by}>
          <Empty title="Nothing to place">
            A roofline needs GPU work and the shapes of operators: record with{' '}
            <code>record_shapes=True</code>.
          </Empty>
        </section>
      ) : (
        <>
          <section class="card" aria-label="Roofline chart">
            <RooflineChart table={table} devices={devices} />
            <Legend items={BOUNDS} />
          </section>
          <section class="card" aria-label={by}>
            <DataTable table={table} chosen={COLUMNS} />
          </section>
          <section class="card" aria-label="Devices">
            <h2>What the devices can do at best</h2>
            <FactList
              look="pairs"
              facts={devices.shape.columns.flatMap((column, i) => {
                const value = devices.rows[0]?.[i] ?? null;
                return value === null
                  ? []
                  : [
                      {
                        name: columnTitle(column),
                        value: cellText(column, value),
                        about: column.about,
                      },
                    ];
              })}
            />
          </section>
        </>
      )}
    </div>
  );
}
