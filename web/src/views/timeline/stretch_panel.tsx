// Statistics of a stretch of time: how busy devices were and why they waited, and what took the time.
import {useMemo} from 'preact/hooks';
import {getJson} from '../../api/http';
import {type Selection, selection, type Tracks} from '../../api/tracks';
import {CAUSE_TEXT, causeVariable, levelText} from '../../render/colours';
import {counterText} from '../../render/frame';
import {counted, countText, durationText, shareText} from '../../render/numbers';
import {instantText, isMoment, type View} from '../../render/scale';
import {load} from '../../state/loaded';
import {refine} from '../../state/route';
import {Bars, Legend} from '../charts/bars';
import {CopyButtons} from '../copy_buttons';
import {When} from '../states';
import {PanelName, PanelPart} from './panel';
import {namesOfWork, namesTable} from './statistics_table';

export function StretchPanel({
  stretch,
  tracks,
  close,
}: {
  stretch: View;
  tracks: Tracks;
  close: () => void;
}) {
  const asked = useMemo(
    () =>
      load(() =>
        getJson(selection, 'api/selection', {
          from_ns: Math.round(stretch.from),
          to_ns: Math.round(stretch.to),
        }),
      ),
    [stretch.from, stretch.to],
  );
  return (
    <PanelPart
      title={
        isMoment(stretch.to - stretch.from)
          ? 'A moment'
          : durationText(Math.round(stretch.to - stretch.from))
      }
      kicker="Selected stretch"
      close={close}
    >
      <When of={asked.value}>{(found) => <Statistics found={found} tracks={tracks} />}</When>
    </PanelPart>
  );
}

const MOST_LINES = 20;
const MOST_NAMES = 40;

function LogLines({found}: {found: Selection}) {
  return (
    <>
      <h3>
        Log lines
        {found.lines_count > 1 && <span class="faint">{` ${countText(found.lines_count)}`}</span>}
      </h3>
      <ul class="log-lines">
        {found.lines.slice(0, MOST_LINES).map((line, i) => (
          <li key={i} class={line.level >= 40 ? 'bad-text' : undefined}>
            {line.text}
            <i class="numbers">{`${levelText(line.level)} · rank ${line.rank} · ${instantText(line.time_ns, found.to_ns - found.from_ns)}`}</i>
          </li>
        ))}
      </ul>
      {found.lines_count > MOST_LINES && (
        <p class="faint small">{`and ${countText(found.lines_count - MOST_LINES)} more`}</p>
      )}
    </>
  );
}

// How busy a GPU was within the stretch is stated exactly above; its line is the mean of stretches of
// its own, which may say another thing of a short one.
function isStated(track: Tracks['tracks'][number] | undefined, found: Selection): boolean {
  return (
    track?.rank !== null &&
    track?.label === `GPU ${track?.device} utilisation` &&
    found.devices.some((each) => each.rank === track.rank && each.device === track.device)
  );
}

// Ranks have counters of the same names.
function counterName(track: Tracks['tracks'][number] | undefined): string {
  if (track === undefined) return '';
  return track.rank === null ? track.label : `rank ${track.rank} · ${track.label}`;
}

function Statistics({found, tracks}: {found: Selection; tracks: Tracks}) {
  const causes = [...new Set(found.devices.flatMap((device) => Object.keys(device.causes)))].filter(
    (cause) => found.devices.some((device) => (device.causes[cause] ?? 0) > 0),
  );
  const names = namesOfWork(found);
  const moment = isMoment(found.to_ns - found.from_ns);
  return (
    <>
      <p class="soft small numbers">{`${moment ? 'at' : 'from'} ${instantText(found.from_ns, found.to_ns - found.from_ns)} · ${counted(found.events, 'event')}`}</p>
      {found.lines.length > 0 && <LogLines found={found} />}
      {found.devices.length > 0 && (
        <>
          <h3>How the GPUs spent it</h3>
          <Bars
            label="Busy and idle time of each GPU"
            whole={1}
            lines={found.devices.slice(0, 16).map((device) => ({
              label: `rank ${device.rank} · GPU ${device.device}`,
              text: `${shareText(device.measured_ns > 0 ? device.busy_ns / device.measured_ns : 0)} busy`,
              parts: [
                {
                  name: 'busy',
                  value: device.busy_ns / Math.max(device.measured_ns, 1),
                  colour: 'var(--s0)',
                  text: durationText(device.busy_ns),
                },
                ...causes.map((cause) => ({
                  name: `idle, ${cause}`,
                  value: (device.causes[cause] ?? 0) / Math.max(device.measured_ns, 1),
                  colour: `color-mix(in srgb, var(${causeVariable(cause)}) 65%, var(--card))`,
                  text: `${durationText(device.causes[cause] ?? 0)}: ${CAUSE_TEXT[cause] ?? ''}`,
                })),
              ],
            }))}
          />
          <Legend
            items={[
              {name: 'busy', colour: 'var(--s0)'},
              ...causes.map((cause) => ({
                name: `idle: ${cause}`,
                colour: `color-mix(in srgb, var(${causeVariable(cause)}) 65%, var(--card))`,
                tip: CAUSE_TEXT[cause] ?? '',
              })),
            ]}
          />
        </>
      )}
      <div class="names-head">
        <h3>{moment ? 'What ran then' : 'What took the time'}</h3>
        <span class="tools">
          <CopyButtons table={namesTable(found)} />
        </span>
      </div>
      <ul class="refs">
        {names.slice(0, MOST_NAMES).map((each) => (
          <li key={each.name + each.kind}>
            <button
              type="button"
              onClick={() => refine({q: each.name})}
              data-tip={`${each.name}\n${each.kind.replaceAll('_', ' ')} · in all ${durationText(each.total_ns)} · the longest ${durationText(each.longest_ns)}`}
            >
              <PanelName name={each.name} />
              {each.where !== '' && <span class="faint">{each.where}</span>}
              <i class="numbers">
                {`${countText(each.count)} ×${moment ? '' : ` · ${durationText(each.self_ns)}`}`}
              </i>
            </button>
          </li>
        ))}
      </ul>
      <p class="faint small">
        {!moment && 'Times are those in which an event was the innermost of its row.'}
        {names.length < found.names.length && ' The recording itself is left out.'}
        {found.names_count > MOST_NAMES &&
          ` The first ${MOST_NAMES} of ${countText(found.names_count)} names.`}
      </p>
      {found.counters.length > 0 && (
        <>
          <h3>Counters</h3>
          <ul class="refs">
            {found.counters.map((counter) => {
              const track = tracks.tracks[counter.track];
              return counter.mean === null || isStated(track, found) ? null : (
                <li key={counter.track} class="plain-row">
                  <span>{counterName(track)}</span>
                  <i class="numbers">{`${counterText(counter.mean, track?.unit ?? null)} on average`}</i>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </>
  );
}
