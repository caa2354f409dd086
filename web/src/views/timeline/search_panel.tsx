// Hits of a search: what they add up to, and each of them a click away; N and P go through them.
import {useSignal} from '@preact/signals';
import {useEffect, useRef} from 'preact/hooks';
import {getJson} from '../../api/http';
import {type EventRef, type SearchResult, searchResult} from '../../api/tracks';
import {shortName} from '../../render/cells';
import {counted, countText, durationText} from '../../render/numbers';
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
  goTo: (ref: EventRef) => void;
  close: () => void;
}

export function SearchPanel({query, rank, short, goTo, close}: Props) {
  const result = useSignal<Loaded<SearchResult>>(LOADING);
  const at = useSignal(-1);
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
        result.value = {state: 'ready', value: found};
        at.value = -1;
      } catch (error) {
        if (!asked.signal.aborted) result.value = {state: 'failed', message: messageOf(error)};
      }
    }, 180);
    return () => {
      clearTimeout(wait);
      asked.abort();
    };
  }, [query, rank, returns.value]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const target = event.target;
      const typing = target instanceof HTMLInputElement;
      const key = event.key.toLowerCase();
      const step = (typing ? key === 'enter' : key === 'n' || key === 'enter')
        ? 1
        : !typing && key === 'p'
          ? -1
          : 0;
      const now = result.peek();
      if (step === 0 || now.state !== 'ready' || now.value.hits.length === 0) return;
      if (target instanceof HTMLButtonElement && key === 'enter') return;
      at.value = (at.value + step + now.value.hits.length) % now.value.hits.length;
      goTo(now.value.hits[at.value]!);
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
                      <i class="numbers">{`rank ${hit.rank} · ${durationText(hit.start_ns)} · ${durationText(hit.duration_ns)}`}</i>
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
