// The steps of one rank as columns: of several ranks the slowest, since all wait for it, or the one
// that is chosen.
import {type Answer, numberAt, type Table, tableOf, valueAt} from '../api/tables';
import {cellText} from '../render/cells';
import {seriesColours} from '../render/colours';
import {slowestRank} from '../render/ranks';
import {go, refine, route} from '../state/route';
import {Legend} from './charts/bars';
import {Columns} from './charts/columns';
import {CopyButtons} from './copy_buttons';
import {FactList} from './fact_list';
import {areGuessed, columnOf, isWholeOne, OfTraced, ranksOf} from './overview_cards';

export function StepTimesCard({steps}: {steps: Answer}) {
  const each = tableOf(steps, 'steps');
  const times = tableOf(steps, 'times');
  if (each === undefined || each.rows.length === 0 || isWholeOne()) return null;
  const ranks = ranksOf(each);
  const slowest = slowestRank(steps);
  const asked = Number(route.value.params.rank ?? Number.NaN);
  const rank = ranks.includes(asked) ? asked : ranks.includes(slowest) ? slowest : ranks[0]!;
  const names = each.shape.drawing?.y ?? ['step_ns'];
  const colours = seriesColours(names);
  const time = times?.rows.find((row) => numberAt(times, row, 'rank') === rank);
  return (
    <section class="card w12" aria-label="Step times">
      <div class="card-head">
        <div>
          <h2>
            Step times
            <OfTraced />
          </h2>
          <p>
            How long each step took, until the GPU work it started had ended. Click one to see it in
            the timeline.
          </p>
          {areGuessed() && (
            <p>
              Nothing marks these steps: they are a guess, what repeats on the GPU. Mark them by
              calling <code>prof.step()</code> once a step, or name them with{' '}
              <code>stepscope serve --steps</code>.
            </p>
          )}
          {ranks.length > 1 && (
            <label class="setting">
              <span>{`of ${ranks.length} ranks:`}</span>
              <select
                class="field"
                value={String(rank)}
                onChange={(event) => refine({rank: event.currentTarget.value})}
              >
                {ranks.map((each) => (
                  <option key={each} value={String(each)}>
                    {`rank ${each}${each === slowest ? ', the slowest' : ''}`}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
        {times !== undefined && time !== undefined && (
          <FactList
            look="figures"
            facts={(
              [
                ['mean', 'mean_ns', ''],
                ['median', 'median_ns', ''],
                ['95th percentile', 'p95_ns', ''],
                ['throughput', 'steps_per_second', 'steps'],
              ] as const
            ).map(([title, name, of]) => ({
              name: title,
              value: cellText(columnOf(times, name)!, valueAt(times, time, name)).replace(
                ' /',
                ` ${of}/`,
              ),
              about: columnOf(times, name)?.about,
            }))}
          />
        )}
      </div>
      <StepColumns table={each} rank={rank} names={names} colours={colours} />
      <Legend
        items={names.map((name, i) => ({
          name: name.replace('_ns', '').replaceAll('_', ' '),
          colour: colours[i]!,
          tip: columnOf(each, name)?.about ?? '',
        }))}
      />
      <div class="card-tools tools">
        <CopyButtons table={each} of="the steps of all ranks" />
      </div>
    </section>
  );
}

function StepColumns({
  table,
  rank,
  names,
  colours,
}: {
  table: Table;
  rank: number | null;
  names: readonly string[];
  colours: readonly string[];
}) {
  const rows = table.rows.filter((row) => numberAt(table, row, 'rank') === rank);
  return (
    <Columns
      label="Time of each step by part"
      unit="ns"
      names={rows.map((row) => `step ${numberAt(table, row, 'step') ?? '–'}`)}
      parts={names.map((name, i) => ({
        name: name.replace('_ns', '').replaceAll('_', ' '),
        colour: colours[i]!,
        values: rows.map((row) => numberAt(table, row, name) ?? 0),
      }))}
      onPick={(i) =>
        go('timeline', {
          step: `${rank}.${numberAt(table, rows[i], 'window') ?? 0}.${numberAt(table, rows[i], 'step')}`,
        })
      }
    />
  );
}
