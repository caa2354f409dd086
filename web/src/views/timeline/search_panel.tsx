// Hits of a search: what they add up to, and each of them a click away; N and P go through them.
import {type Signal, useSignal} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {getJson} from '../../api/http';
import {type EventRef, type SearchResult, searchResult} from '../../api/tracks';
import {shortName} from '../../render/cells';
import {counted, countText, durationText} from '../../render/numbers';
import {instantText} from '../../render/scale';
import {returns} from '../../state/connection';
import {LOADING, type Loaded, messageOf} from '../../state/loaded';
import {refine} from '../../state/route';
import {CopyButtons} from '../copy_buttons';
import {When} from '../states';
import {PanelName, PanelPart} from './panel';
import {hitsTable} from './statistics_table';

interface Props {
  query: string;
  rank: string | undefined;
  short: boolean; // something else stands below it
  entered: Signal<string | null>; // the text in the field when Enter was pressed there
  goTo: (ref: EventRef) => void;
  close: () => void;
}

export function SearchPanel({query, rank, short, entered, goTo, close}: Props) {
  const result = useSignal<Loaded<SearchResult>>(LOADING);
  const at = useSignal(-1);
  const answers = useRef(''); // the text that the result is of
  useEffect(() => {
    const asked = new AbortController();
    result.value = LOADING;
    const wait = setTimeout(async () => {
      try {
        const found = await getJson(
          searchResult,
          'api/search',
          {q: query, limit: 200, rank},
          asked.signal,
        );
        at.value = -1;
        answers.current = query;
        result.value = {state: 'ready', value: found};
      } catch (error) {
        if (!asked.signal.aborted) result.value = {state: 'failed', message: messageOf(error)};
      }
    }, 180);
    return () => {
      clearTimeout(wait);
      asked.abort();
    };
  }, [query, rank, returns.value]);
  const move = (step: number) => {
    const now = result.peek();
    if (now.state !== 'ready' || now.value.hits.length === 0) return;
    const last = now.value.hits.length - 1;
    const next = at.value + step;
    at.value = next < 0 ? last : next > last ? 0 : next;
    goTo(now.value.hits[at.value]!);
  };
  // A fast typist presses Enter before the answer is there: it then leads to the first hit.
  useEffect(() => {
    if (result.value.state === 'loading' || answers.current !== query) return;
    if (entered.value !== query) return;
    entered.value = null;
    move(1);
  }, [result.value, entered.value, query]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const target = event.target;
      if (target instanceof HTMLInputElement) return;
      const key = event.key.toLowerCase();
      if (key === 'enter' && target instanceof HTMLButtonElement) return;
      if (key === 'n' || key === 'enter') move(1);
      else if (key === 'p') move(-1);
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, [goTo]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[at.value]?.scrollIntoView({block: 'nearest'}), [at.value]);
  return (
    <PanelPart
      title={`“${shortName(query)}”`}
      kicker={rank === undefined ? 'Search' : `Search in rank ${rank}`}
      close={close}
    >
      <When of={result.value}>
        {(found) =>
          found.count === 0 ? (
            <p class="soft">No event has a name that contains this.</p>
          ) : (
            <>
              <p class="soft small numbers" role="status">
                {counted(found.count, 'event')} · Enter or N for the next, P for the one before
              </p>
              {found.names.length > 1 && !short && (
                <>
                  <h3>By name</h3>
                  <ul class="refs">
                    {found.names.slice(0, 6).map((each) => (
                      <li key={each.name}>
                        <button
                          type="button"
                          data-tip={each.name}
                          onClick={() => refine({q: each.name})}
                        >
                          <PanelName name={each.name} />
                          <i class="numbers">{`${countText(each.count)} × · ${durationText(each.total_ns)}`}</i>
                        </button>
                      </li>
                    ))}
                  </ul>
                </>
              )}
              <div class="names-head">
                <h3>In time</h3>
                <span class="tools">
                  <CopyButtons table={hitsTable(found)} />
                </span>
              </div>
              <ul ref={list} class={`refs hits${short ? ' short' : ''}`}>
                {found.hits.map((hit, i) => (
                  <li key={`${hit.rank}.${hit.window}.${hit.ordinal}`}>
                    <button
                      type="button"
                      aria-current={at.value === i ? 'true' : undefined}
                      onClick={() => {
                        at.value = i;
                        goTo(hit);
                      }}
                    >
                      <PanelName name={hit.name} />
                      <i class="numbers">{`rank ${hit.rank} · ${instantText(hit.start_ns, hit.duration_ns)} · ${durationText(hit.duration_ns)}`}</i>
                    </button>
                  </li>
                ))}
              </ul>
              {found.count > found.hits.length && (
                <p class="faint small">{`The first ${found.hits.length} of ${countText(found.count)} are listed.`}</p>
              )}
            </>
          )
        }
      </When>
    </PanelPart>
  );
}
