// Pages about one analysis that people look at most: its tables side by side as choices (by name, by
// shape, by stack), a chart on top, the filter in the address.
import {type Analysis, type Answer, tableOf} from '../api/tables';
import {refine, route} from '../state/route';
import {answerOf, descriptors} from '../state/run';
import {optionsOf, Settings} from './ask';
import {Drawn} from './charts/drawn';
import {Prose} from './prose';
import {remarksOf} from './remarks';
import {Empty, Remarks, When} from './states';
import {DataTable} from './table';

export interface Choice {
  id: string; // in the address
  table: string;
  title: string;
  about?: string; // where its rows are not what the page is about
  columns?: readonly string[];
  // Where another analysis groups the same work: its name, and what differs from its own settings.
  analysis?: string;
  settings?: readonly string[];
  defaults?: Readonly<Record<string, string>>;
  value?: string; // what a flame graph is as wide as
}

export interface ChosenProps {
  name: string; // of the analysis
  title: string;
  about: string;
  choices: readonly Choice[];
  settings: readonly string[];
  defaults?: Readonly<Record<string, string>>; // settings that differ from the program's own
}

export function ChosenPage(props: ChosenProps) {
  return (
    <When of={descriptors.value}>
      {(all) => {
        const hasTable = (name: string, table: string) =>
          all.some(
            (each) => each.name === name && each.tables.some((shape) => shape.name === table),
          );
        const choices = props.choices.filter((each) =>
          hasTable(each.analysis ?? props.name, each.table),
        );
        const by = choices.find((each) => each.id === route.value.params.group) ?? choices[0];
        const analysis = all.find((each) => each.name === (by?.analysis ?? props.name));
        if (analysis === undefined || by === undefined)
          return <Empty title="This program has no such analysis" />;
        return <Chosen {...props} choices={choices} by={by} analysis={analysis} />;
      }}
    </When>
  );
}

function Chosen({
  analysis,
  title,
  about,
  choices,
  by,
  ...props
}: ChosenProps & {analysis: Analysis; by: Choice}) {
  const settings = by.settings ?? props.settings;
  // Another analysis need not have the settings of the page's own.
  const defaults = Object.fromEntries(
    Object.entries(by.defaults ?? props.defaults ?? {}).filter(([name]) =>
      analysis.parameters.some((parameter) => parameter.name === name),
    ),
  );
  const answer = answerOf(analysis, {...defaults, ...optionsOf(analysis)});
  return (
    <>
      <div class="head">
        <div>
          <h1>{title}</h1>
          <p>{by.about ?? about}</p>
        </div>
        {choices.length > 1 && (
          <div class="segments" role="group" aria-label="Grouped">
            {choices.map((choice) => (
              <button
                type="button"
                key={choice.id}
                aria-pressed={choice === by}
                onClick={() => refine({group: choice.id, filter: null})}
              >
                {choice.title}
              </button>
            ))}
          </div>
        )}
      </div>
      <Settings analysis={analysis} only={settings} defaults={defaults} />
      <When of={answer.value}>{(found) => <Body answer={found} by={by} />}</When>
    </>
  );
}

function Body({answer, by}: {answer: Answer; by: Choice}) {
  const table = tableOf(answer, by.table);
  const remarks = remarksOf(answer.remarks, by.table);
  const {params} = route.value;
  const isEmpty = table === undefined || table.rows.length === 0;
  return (
    <div class="stack">
      {!isEmpty && <Remarks texts={remarks} />}
      {isEmpty ? (
        <section class="card" aria-label={by.title}>
          <Empty title="Nothing to show">
            {remarks.length > 0 ? (
              <Prose text={remarks.join(' ')} />
            ) : (
              'This run has nothing of this kind.'
            )}
          </Empty>
        </section>
      ) : (
        <section class="card" aria-label={by.title}>
          <Drawn table={table} few {...(by.value ? {value: by.value} : {})} />
          <DataTable
            key={by.id}
            table={table}
            {...(by.columns ? {chosen: by.columns} : {})}
            filter={params.filter ?? ''}
            onFilter={(filter) => refine({filter})}
          />
        </section>
      )}
    </div>
  );
}
