// One event: how long, where, what it was called with, what called it, and what it is linked with.
import type {EventDetails, EventRef} from '../../api/tracks';
import {KIND_TEXT} from '../../render/colours';
import {countText, durationText} from '../../render/numbers';
import {instantText} from '../../render/scale';
import {copy} from '../../state/copying';
import {refine} from '../../state/route';
import {type Fact, FactList} from '../fact_list';
import {PanelName, PanelPart} from './panel';

interface Props {
  details: EventDetails;
  goTo: (ref: EventRef) => void;
  close: () => void;
}

export function EventPanel({details, goTo, close}: Props) {
  const facts: Fact[] = [];
  const addFact = (name: string, value: string, about?: string) => facts.push({name, value, about});
  addFact('Duration', durationText(details.duration_ns));
  addFact(
    'Starts at',
    instantText(details.start_ns, details.duration_ns),
    `${details.start_ns.toLocaleString('en')} ns since the start of the run`,
  );
  if (details.self_ns !== null)
    addFact('Self', durationText(details.self_ns), 'without what it called');
  addFact('Rank', String(details.rank));
  if (details.step !== null) addFact('Step', String(details.step));
  if (details.module !== null) addFact('Module', details.module);
  if (details.flags.length > 0) addFact('Odd', details.flags.join(', ').replaceAll('_', ' '));
  return (
    <PanelPart title={details.name} kicker={KIND_TEXT[details.kind] ?? details.kind} close={close}>
      <FactList look="pairs" facts={facts} />
      <div class="tools panel-tools">
        <button type="button" class="button" onClick={() => refine({q: details.name})}>
          Find all of this name
        </button>
        <button
          type="button"
          class="button"
          onClick={() => void copy(JSON.stringify(details, null, 1), 'JSON')}
        >
          Copy JSON
        </button>
      </div>
      <Links title="Launched by" refs={[details.launch]} goTo={goTo} />
      <Links title="Operator" refs={[details.operator]} goTo={goTo} />
      <Links title="Work on the GPU" refs={details.work} count={details.work_count} goTo={goTo} />
      <Links title="Forward" refs={[details.forward]} goTo={goTo} />
      <Links title="Backward" refs={details.backward} count={details.backward_count} goTo={goTo} />
      <Links title="Called by" refs={details.stack} goTo={goTo} />
      {details.call_stack.length > 0 && (
        <>
          <h3>Stack</h3>
          <ol class="frames">
            {details.call_stack.map((frame, i) => (
              <li key={i}>{frame}</li>
            ))}
          </ol>
        </>
      )}
      <Links title="Calls" refs={details.children} count={details.children_count} goTo={goTo} />
      <Arguments details={details} />
    </PanelPart>
  );
}

function Links(props: {
  title: string;
  refs: readonly (EventRef | null)[];
  count?: number;
  goTo: (ref: EventRef) => void;
}) {
  const refs = props.refs.filter((ref) => ref !== null);
  if (refs.length === 0) return null;
  const shown = refs.slice(0, 12);
  const count = props.count ?? refs.length;
  return (
    <>
      <h3>
        {props.title}
        {count > 1 && <span class="faint">{` ${countText(count)}`}</span>}
      </h3>
      <ul class="refs">
        {shown.map((ref) => (
          <li key={`${ref.rank}.${ref.window}.${ref.ordinal}`}>
            <button
              type="button"
              onClick={() => props.goTo(ref)}
              data-tip={ref.name.length > 36 ? ref.name : undefined}
            >
              <PanelName name={ref.name} />
              <i class="numbers">{durationText(ref.duration_ns)}</i>
            </button>
          </li>
        ))}
      </ul>
      {count > shown.length && (
        <p class="faint small">{`and ${countText(count - shown.length)} more`}</p>
      )}
    </>
  );
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function Arguments({details}: {details: EventDetails}) {
  const entries = Object.entries(details.arguments ?? {});
  if (details.text_lost !== null) {
    return (
      <>
        <h3>Arguments</h3>
        <p class="soft small">{`They stand in the file, which cannot be read again: ${details.text_lost}.`}</p>
      </>
    );
  }
  if (entries.length === 0 && details.text === null) return null;
  return (
    <>
      <h3>Arguments</h3>
      <FactList
        look="pairs arguments"
        facts={entries.map(([name, value]) => ({name, value: valueText(value)}))}
      />
      {details.text !== null && <pre class="small">{details.text}</pre>}
    </>
  );
}
