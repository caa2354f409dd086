// What was opened, in a few figures: those of the first lines of the report.
import type {Run} from '../api/run';
import {isUnmarked, type Summary} from '../api/summary';
import {bytesText, counted, countText, durationText} from '../render/numbers';
import {summaryOf, titleOf} from '../state/run';
import {type Fact, FactList} from './fact_list';
import {When} from './states';

export function Facts({run}: {run: Run}) {
  const info = run.info;
  if (info === null) return null;
  const device = info.devices[0];
  const about = [
    device?.name,
    device?.memory_bytes ? bytesText(device.memory_bytes) : undefined,
    ...info.versions.slice(0, 1).map((version) => `${version.name} ${version.version}`),
    info.run.backends.join(', ') || undefined,
    info.run.hosts.length > 0 ? counted(info.run.hosts.length, 'host') : undefined,
    info.recorded_with.length > 0 ? `recorded with ${info.recorded_with.join(', ')}` : undefined,
  ].filter((text): text is string => text !== undefined && text !== '');
  return (
    <div class="head facts">
      <div>
        <h1>{titleOf(run)}</h1>
        <p>{about.join(' · ')}</p>
      </div>
      <When of={summaryOf().value}>
        {(first) => <FactList look="figures" facts={figures(run, first)} />}
      </When>
    </div>
  );
}

function figures(run: Run, first: Summary): Fact[] {
  const facts: Fact[] = [];
  const line = (name: string) => first.facts.find((fact) => fact.name === name)?.text;
  const addFact = (name: string, value: string, about?: string) => facts.push({name, value, about});
  if (isUnmarked(first)) addFact('Steps', 'none marked', line('Steps'));
  else if (first.step !== null) {
    addFact(
      'Mean step',
      durationText(first.step.mean_ns),
      first.step.of === 'recorded'
        ? line('Steps')
        : 'of the traced steps, until their GPU work has ended; of several ranks, the slowest',
    );
  }
  if (first.recorded_steps !== null) addFact('Steps', first.recorded_steps, line('Steps'));
  if (first.traced_steps !== null)
    addFact(
      first.guessed_steps ? 'Guessed steps' : 'Traced steps',
      first.traced_steps,
      line('Traced steps') ?? line('Steps'),
    );
  const {ranks, world_size: world} = run.info!.run;
  if (ranks > 0) {
    const some = world !== null && world > ranks;
    addFact(
      'Ranks',
      some ? `${countText(ranks)} of ${countText(world)}` : countText(ranks),
      `training processes in these files${some ? `: ${line('Run') ?? ''}` : ''}`,
    );
  }
  if (first.length_ns > 0)
    addFact('Length', durationText(first.length_ns), `Recorded ${line('Recorded') ?? ''}`);
  if (run.info!.run.events > 0) addFact('Events', countText(run.info!.run.events), 'of all kinds');
  return facts;
}
