// What is under the pointer, in a few words beside it.
import type {Signal} from '@preact/signals';
import type {Tracks} from '../../api/tracks';
import {shortName} from '../../render/cells';
import {CAUSE_TEXT, KIND_TEXT, levelText} from '../../render/colours';
import {counterText} from '../../render/frame';
import {counted, durationText} from '../../render/numbers';
import type {Under} from './stage';

function words(under: Under, tracks: Tracks): [string, string] | null {
  const {track} = under.place;
  if (track.kind === 'counter') {
    return under.value === null ? null : [counterText(under.value, track.unit), track.label];
  }
  const {hit} = under;
  if (hit === null) return null;
  if (hit.form === 'gap') {
    const cause = tracks.causes[hit.kind] ?? 'other';
    if (hit.within !== undefined) {
      const share = `${durationText(hit.duration)} of ${durationText(hit.within)}`;
      return [`Idle ${share}, in short gaps`, `most of them ${cause}: ${CAUSE_TEXT[cause] ?? ''}`];
    }
    return [`Idle ${durationText(hit.duration)}`, `${cause}: ${CAUSE_TEXT[cause] ?? ''}`];
  }
  if (track.kind === 'log') return [hit.name, levelText(10 * hit.kind)];
  const kind = tracks.kinds[hit.kind] ?? 'other';
  const about =
    track.kind === 'steps'
      ? 'step'
      : track.kind === 'recorded'
        ? 'recorded by the program'
        : (KIND_TEXT[kind] ?? kind);
  if (hit.form === 'cell') {
    return [
      hit.count === 1
        ? shortName(hit.name)
        : `${counted(hit.count, 'event')}, the longest: ${shortName(hit.name)}`,
      `each shorter than ${durationText(hit.duration)} · ${about}`,
    ];
  }
  return [shortName(hit.name), `${durationText(hit.duration)} · ${about}`];
}

export function Hover({under, tracks}: {under: Signal<Under | null>; tracks: Tracks}) {
  const at = under.value;
  const text = at === null ? null : words(at, tracks);
  if (at === null || text === null) return null;
  const left = Math.min(at.x + 232, innerWidth - 380);
  return (
    <div class="tip hover" style={{left: `${left}px`, top: `${at.y + 18}px`}}>
      <b>{text[0].length > 160 ? `${text[0].slice(0, 160)}…` : text[0]}</b>
      <div>{text[1]}</div>
    </div>
  );
}
