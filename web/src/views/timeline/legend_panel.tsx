// What the colours of the timeline mean.
import type {Tracks} from '../../api/tracks';
import {CAUSE_TEXT, causeVariable, KIND_TEXT, kindVariable} from '../../render/colours';
import {PanelPart} from './panel';

const KINDS = [
  'kernel',
  'memcpy',
  'collective',
  'cpu_op',
  'runtime',
  'annotation',
  'python',
  'sync',
];

export function LegendPanel({tracks, close}: {tracks: Tracks; close: () => void}) {
  return (
    <PanelPart title="What the colours mean" close={close}>
      <ul class="colour-list">
        {KINDS.filter((kind) => tracks.kinds.includes(kind)).map((kind) => (
          <li key={kind}>
            <i style={{background: `var(${kindVariable(kind)})`}} aria-hidden="true" />
            {KIND_TEXT[kind]}
          </li>
        ))}
      </ul>
      <p class="faint small">Shades of one colour tell names apart.</p>
      <h3>Why a GPU waits</h3>
      <ul class="colour-list">
        {tracks.causes.map((cause) => (
          <li key={cause}>
            <i
              style={{
                background: `color-mix(in srgb, var(${causeVariable(cause)}) 65%, var(--card))`,
              }}
              aria-hidden="true"
            />
            <span>
              <b>{cause}</b> {CAUSE_TEXT[cause]}
            </span>
          </li>
        ))}
      </ul>
    </PanelPart>
  );
}
