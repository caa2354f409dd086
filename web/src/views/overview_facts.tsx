// What was opened, in a few figures.
import type {Run} from '../api/run';
import {bytesText, counted, countText, durationText} from '../render/numbers';
import {titleOf} from '../state/run';
import {type Fact, FactList} from './fact_list';

export function Facts({run}: {run: Run}) {
  const info = run.info;
  if (info === null) return null;
  const devices = new Map<string, number>();
  for (const device of info.devices) devices.set(device.name, (devices.get(device.name) ?? 0) + 1);
  const facts: Fact[] = [];
  const say = (name: string, value: string, about: string) => facts.push({name, value, about});
  const steps = info.steps;
  if (steps !== null && steps.count > 0 && steps.mean_ns !== null) {
    say('Mean step', durationText(steps.mean_ns), 'of the traced steps, on the host');
    say('Traced steps', countText(steps.count), 'on all ranks together');
  }
  say('Ranks', countText(info.run.ranks), 'training processes in these files');
  if (run.time !== null && run.time.length_ns > 0) {
    say('Length', durationText(run.time.length_ns), 'from the first to the last event');
  }
  if (info.run.events > 0) say('Events', countText(info.run.events), 'of all kinds');
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
      <FactList look="figures" facts={facts} />
    </div>
  );
}
