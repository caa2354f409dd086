// Any analysis, drawn from its descriptor alone: its question, settings, remarks, charts and tables.
// What the command line can show is reachable here.
import {type Analysis, type Answer, columnIndex, type Table} from '../api/tables';
import {tableTitle} from '../render/cells';
import {href, refine, route} from '../state/route';
import {answerOf, descriptors, readyRun} from '../state/run';
import {Drawn} from './charts/drawn';
import {CopyButtons} from './copy_buttons';
import {Empty, Remarks, When} from './states';
import {DataTable} from './table';

const FAMILIES: readonly (readonly [string, (needs: string) => boolean])[] = [
  ['Of a trace', (needs) => needs === 'trace'],
  ['Of what processes recorded of themselves', (needs) => needs === 'recording'],
  ['Of memory snapshots', (needs) => needs.startsWith('snapshot')],
  [
    'Of whatever there is',
    (needs) => needs !== 'trace' && needs !== 'recording' && !needs.startsWith('snapshot'),
  ],
];

function questionsTable(all: readonly Analysis[]): Table {
  return {
    shape: {
      name: 'analyses',
      about: 'one analysis',
      drawing: null,
      columns: ['name', 'title', 'question', 'needs'].map((name) => ({
        name,
        type: 'text',
        unit: '' as const,
        about: '',
      })),
    },
    rows: all.map((each) => [each.name, each.title, each.question, each.needs]),
  };
}

export function AllQuestions() {
  return (
    <>
      <div class="head">
        <div>
          <h1>All questions</h1>
          <p>
            Every analysis that the program has, the same ones as <code>stepscope analyze</code>{' '}
            answers.
          </p>
        </div>
        {descriptors.value.state === 'ready' && (
          <span class="tools">
            <CopyButtons table={questionsTable(descriptors.value.value)} />
          </span>
        )}
      </div>
      <When of={descriptors.value}>
        {(all) =>
          FAMILIES.map(([title, fits]) => {
            const here = all.filter((analysis) => fits(analysis.needs));
            return here.length === 0 ? null : (
              <section class="card" key={title} aria-label={title}>
                <h2>{title}</h2>
                <div class="analyses">
                  {here.map((analysis) => (
                    <a key={analysis.name} href={href(`ask/${analysis.name}`)}>
                      <b>{analysis.title}</b>
                      <span>{analysis.question}</span>
                    </a>
                  ))}
                </div>
              </section>
            );
          })
        }
      </When>
    </>
  );
}

export function AskPage({name}: {name: string}) {
  return (
    <When of={descriptors.value}>
      {(all) => {
        const analysis = all.find((each) => each.name === name);
        if (analysis === undefined) {
          return (
            <Empty title="There is no such question">
              No analysis is called “{name}”. <a href={href('ask')}>These are all of them.</a>
            </Empty>
          );
        }
        return <OneQuestion analysis={analysis} />;
      }}
    </When>
  );
}

// Values of the analysis' own settings as they stand in the address.
export function optionsOf(analysis: Analysis): Record<string, string> {
  const {params} = route.value;
  const options: Record<string, string> = {};
  for (const parameter of analysis.parameters) {
    const value = params[parameter.name];
    if (value !== undefined && value !== '') options[parameter.name] = value;
  }
  if (params.rank !== undefined) options.rank = params.rank;
  if (params.step !== undefined) options.step = params.step;
  return options;
}

function OneQuestion({analysis}: {analysis: Analysis}) {
  const answer = answerOf(analysis, optionsOf(analysis));
  return (
    <>
      <div class="head">
        <div>
          <h1>{analysis.title}</h1>
          <p>{analysis.question}</p>
        </div>
      </div>
      <Settings analysis={analysis} />
      <When of={answer.value}>{(found) => <Answered answer={found} />}</When>
    </>
  );
}

export function Answered({answer}: {answer: Answer}) {
  const full = answer.tables.filter((table) => table.rows.length > 0);
  const empty = answer.tables.filter((table) => table.rows.length === 0);
  return (
    <div class="stack">
      <Remarks texts={answer.remarks} />
      {full.map((table) => (
        <section class="card" key={table.shape.name} aria-label={table.shape.name}>
          <h2 class="table-title">{tableTitle(table.shape.name)}</h2>
          <p>{`A row is ${table.shape.about}.`}</p>
          <Drawn table={table} causes={isOfCauses(answer, table.shape.name)} />
          <DataTable table={table} />
        </section>
      ))}
      {full.length === 0 && answer.remarks.length === 0 && (
        <Empty title="Nothing to show">The analysis ran and found nothing in this run.</Empty>
      )}
      {full.length > 0 && empty.length > 0 && (
        <p class="faint small">{`Without rows: ${empty.map((table) => table.shape.name).join(', ')}.`}</p>
      )}
    </div>
  );
}

function isOfCauses(answer: Answer, table: string): boolean {
  const shape = answer.tables.find((each) => each.shape.name === table)?.shape;
  return shape !== undefined && columnIndex(shape, 'dependency_ns') >= 0;
}

export function RankChoice() {
  const ranks = readyRun.value?.time?.windows.map((window) => window.rank) ?? [];
  const all = [...new Set(ranks)].sort((a, b) => a - b);
  if (all.length < 2) return null;
  return (
    <label class="setting">
      <span>rank</span>
      <select
        class="field"
        value={route.value.params.rank ?? ''}
        onChange={(event) => refine({rank: event.currentTarget.value})}
      >
        <option value="">all</option>
        {all.map((rank) => (
          <option key={rank} value={rank}>
            {rank}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SettingsProps {
  analysis: Analysis;
  only?: readonly string[];
  defaults?: Readonly<Record<string, string>>; // where a page differs from the program's own
}

export function Settings({analysis, only, defaults = {}}: SettingsProps) {
  const {params} = route.value;
  const shown = analysis.parameters.filter((parameter) => only?.includes(parameter.name) ?? true);
  return (
    <form class="settings" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
      <RankChoice />
      {shown.map((parameter) => {
        const value = params[parameter.name] ?? '';
        const usual = defaults[parameter.name] ?? parameter.defaultValue;
        const change = (event: {currentTarget: {value: string}}) =>
          refine({[parameter.name]: event.currentTarget.value.trim()});
        const choices = parameter.type === 'switch' ? ['false', 'true'] : parameter.choices;
        return (
          <label class="setting" key={parameter.name} for={`set-${parameter.name}`}>
            <span data-tip={parameter.about}>{parameter.name.replaceAll('-', ' ')}</span>
            {choices.length > 0 ? (
              <select
                id={`set-${parameter.name}`}
                class="field"
                value={value || usual || choices[0]}
                onChange={change}
              >
                {choices.map((choice) => (
                  <option key={choice} value={choice}>
                    {parameter.type === 'switch' ? (choice === 'true' ? 'yes' : 'no') : choice}
                  </option>
                ))}
              </select>
            ) : (
              <input
                id={`set-${parameter.name}`}
                class="field"
                value={value}
                placeholder={usual || 'not set'}
                onChange={change}
              />
            )}
          </label>
        );
      })}
    </form>
  );
}
