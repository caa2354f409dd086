// The timeline: names of the rows on the left, the canvas, and on the right what was chosen: an
// event, a stretch of time, or the hits of a search.
import {type Signal, useSignal, useSignalEffect} from '@preact/signals';
import {useEffect, useRef, useState} from 'preact/hooks';
import {getJson, ServerError} from '../../api/http';
import {
  type EventDetails,
  type EventRef,
  eventDetails,
  selection,
  type Tracks,
} from '../../api/tracks';
import {RULER} from '../../render/frame';
import {closedAtFirst, groupInView, HEADING, type Layout} from '../../render/layout';
import {isMoment, type View} from '../../render/scale';
import {returns} from '../../state/connection';
import {copy, showToast, tableCsv, tableJson} from '../../state/copying';
import {messageOf} from '../../state/loaded';
import {href, refine, route} from '../../state/route';
import {readyRun, tracksOf} from '../../state/run';
import {theme} from '../../state/theme';
import {Cut} from '../cut';
import {Empty, When} from '../states';
import {eventIdOf, placeOf, stepStretch, stretchOf, viewOf} from './addresses';
import {EventPanel} from './event_panel';
import {Hover} from './hover';
import {LegendPanel} from './legend_panel';
import {type Missing, MissingPanel, notAnEvent, notAPlace, notAStep} from './missing_panel';
import {SearchPanel} from './search_panel';
import {Stage, type Under} from './stage';
import {namesTable} from './statistics_table';
import {StretchPanel} from './stretch_panel';

const MOMENTS = 200; // of the run, on either side of what has no length

export function TimelinePage() {
  return (
    <When of={tracksOf().value}>
      {(tracks) =>
        tracks.tracks.length === 0 ? (
          <Empty title="There is nothing to draw over time">
            These files hold no trace and no recording. A memory snapshot has{' '}
            <a href={href('ask/memory-timeline')}>what is in memory over time</a> and{' '}
            <a href={href('ask')}>questions of its own</a>.
          </Empty>
        ) : (
          <Timeline tracks={tracks} />
        )
      }
    </When>
  );
}

// What took the time that is on the screen, or of the stretch that is chosen.
async function copyView(form: 'CSV' | 'JSON', view: View): Promise<void> {
  const {from, to} = stretchOf(route.peek().params) ?? view;
  try {
    const table = namesTable(
      await getJson(selection, 'api/selection', {
        from_ns: Math.max(0, Math.round(from)),
        to_ns: Math.max(0, Math.round(to)),
      }),
    );
    const text =
      form === 'CSV' ? tableCsv(table.shape.columns, table.rows) : tableJson(table, table.rows);
    await copy(text, form);
  } catch (error) {
    showToast(messageOf(error));
  }
}

function GroupInView({name}: {name: Signal<string>}) {
  if (name.value === '') return null;
  return (
    <div class="group-pin" aria-hidden="true" style={{top: `${RULER}px`, height: `${HEADING}px`}}>
      {name.value}
    </div>
  );
}

function Timeline({tracks}: {tracks: Tracks}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const [layout, setLayout] = useState<Layout | null>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(tracks.tracks));
  const [chosen, setChosen] = useState<EventDetails | null>(null);
  const [legend, setLegend] = useState(false);
  const [missing, setMissing] = useState<Missing | null>(null);
  const under = useSignal<Under | null>(null);
  const entered = useSignal<string | null>(null);
  const pinned = useSignal('');
  const {params} = route.value;
  const stretch = stretchOf(params);
  const query = params.q ?? '';

  useEffect(() => {
    const made = new Stage(canvas.current!, scroller.current!, tracks, {
      moved: (view: View) => refine({from: Math.round(view.from), to: Math.round(view.to)}),
      hovered: (found) => {
        under.value = found;
      },
      clicked: (found) => clicked(found),
      opened: (still) => {
        setLayout(made.setClosed(still));
        setClosed(still);
      },
      selected: (found) =>
        refine({
          sel: found === null ? null : `${Math.round(found.from)}-${Math.round(found.to)}`,
          event: null,
        }),
    });
    stage.current = made;
    setLayout(made.layout);
    (window as unknown as {stepscopeStage?: Stage}).stepscopeStage = made;
    const view = viewOf(params);
    if (view !== null) made.show(view, true);
    return () => made.destroy();
  }, [tracks]);

  // The group of the first rows in view, where its heading is scrolled away.
  useEffect(() => {
    const rows = scroller.current!;
    const look = () => {
      pinned.value = layout === null ? '' : groupInView(layout, rows.scrollTop);
    };
    look();
    rows.addEventListener('scroll', look, {passive: true});
    return () => rows.removeEventListener('scroll', look);
  }, [layout]);

  // Moving changes the address without an event; one that comes from elsewhere, a link or the
  // browser's back button, moves the view.
  useEffect(() => {
    const follow = () => {
      const view = viewOf(route.peek().params);
      if (view !== null) stage.current?.show(view);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [tracks]);

  useSignalEffect(() => {
    theme.value;
    // The new colours are there once the attribute is.
    requestAnimationFrame(() => stage.current?.setTheme());
  });
  useEffect(() => stage.current?.setQuery(query.length > 1 ? query : ''), [query]);
  useEffect(() => stage.current?.setStretch(stretch), [params.sel]);
  useEffect(() => {
    if (stage.current !== null) setLayout(stage.current.setClosed(closed));
  }, [closed]);

  // An event in the address is fetched, chosen and brought into view.
  useEffect(() => {
    const id = eventIdOf(params);
    const forget = () => {
      setChosen(null);
      stage.current?.choose(null);
    };
    setMissing(id === null && params.event ? notAnEvent(params.event) : null);
    if (id === null) {
      forget();
      return;
    }
    const asked = new AbortController();
    getJson(
      eventDetails,
      `api/events/${id.rank}/${id.window}/${id.ordinal}`,
      {},
      asked.signal,
    ).then(
      (details) => {
        setChosen(details);
        stage.current?.choose(details);
        if (viewOf(route.peek().params) === null) stage.current?.showEvent(details);
        else stage.current?.showRow(details);
      },
      (error: unknown) => {
        if (asked.signal.aborted) return;
        if (error instanceof ServerError && error.code === 'not_found') {
          forget();
          setMissing(notAnEvent(params.event!, error.message));
        } else showToast(messageOf(error));
      },
    );
    return () => asked.abort();
  }, [params.event, returns.value]);

  // A stretch that a table or finding speaks of, with air around it.
  const showStretch = (found: View | null, air: number, otherwise: Missing) => {
    setMissing(found === null ? otherwise : null);
    if (found === null) return;
    // A moment, such as that of a log line, has no width of its own.
    const least = isMoment(found.to - found.from) ? tracks.length_ns / MOMENTS : 0;
    const size = Math.max((found.to - found.from) * air, least);
    stage.current?.show({from: found.from - size, to: found.to + size});
    refine({step: null, at: null, sel: `${Math.round(found.from)}-${Math.round(found.to)}`});
  };
  useEffect(() => {
    if (params.step !== undefined)
      void stepStretch(params.step).then((found) =>
        showStretch(found, 0.03, notAStep(params.step!)),
      );
  }, [params.step]);
  useEffect(() => {
    if (params.at !== undefined) showStretch(placeOf(params.at), 4, notAPlace(params.at));
  }, [params.at]);

  const goTo = (ref: EventRef) => {
    stage.current?.showEvent(ref);
    refine({event: `${ref.rank}.${ref.window}.${ref.ordinal}`});
  };

  function clicked(found: Under | null): void {
    const hit = found?.hit ?? null;
    if (found === null || hit === null) {
      refine({event: null, sel: null});
      return;
    }
    const {track} = found.place;
    if (hit.ordinal !== null && track.kind !== 'log' && track.rank !== null) {
      refine({event: `${track.rank}.${hit.window}.${hit.ordinal}`, sel: null});
    } else {
      refine({
        sel: `${Math.round(hit.start)}-${Math.round(hit.start + (hit.within ?? hit.duration))}`,
        event: null,
      });
    }
  }

  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const target = event.target;
      if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const now = route.peek().params;
      const there = stretchOf(now);
      if (event.key === 'Escape') {
        refine({event: null, sel: null, q: null});
        setLegend(false);
      }
      if (event.key === '0') stage.current?.show({from: 0, to: tracks.length_ns});
      else if (event.key.toLowerCase() === 'm') {
        // What dragging along the ruler does: the chosen event, or what is in view.
        const {from, to} = stage.current!.inside(
          chosen === null
            ? stage.current!.motion.target
            : {from: chosen.start_ns, to: chosen.start_ns + chosen.duration_ns},
        );
        refine({sel: `${Math.round(from)}-${Math.round(to)}`, event: null});
      } else if (event.key.toLowerCase() === 'f') {
        if (there !== null) stage.current?.show(there);
        else if (chosen !== null) {
          const air = Math.max(chosen.duration_ns * 0.1, 100);
          stage.current?.show({
            from: chosen.start_ns - air,
            to: chosen.start_ns + chosen.duration_ns + air,
          });
        }
      }
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, [tracks, chosen]);

  const length = readyRun.value?.time?.length_ns ?? tracks.length_ns;
  const panel =
    query !== '' || chosen !== null || stretch !== null || legend || missing !== null ? (
      <aside class="panel" aria-label="Details">
        {missing !== null && (
          <MissingPanel
            missing={missing}
            close={() => {
              setMissing(null);
              refine({event: null, step: null, at: null});
            }}
          />
        )}
        {query !== '' && (
          <SearchPanel
            query={query}
            rank={params.rank}
            short={chosen !== null || stretch !== null || legend}
            entered={entered}
            goTo={goTo}
            close={() => refine({q: null, rank: null})}
          />
        )}
        {legend && <LegendPanel tracks={tracks} close={() => setLegend(false)} />}
        {chosen !== null && (
          <EventPanel details={chosen} goTo={goTo} close={() => refine({event: null})} />
        )}
        {stretch !== null && (
          <StretchPanel
            key={params.sel}
            stretch={stretch}
            tracks={tracks}
            close={() => refine({sel: null})}
          />
        )}
      </aside>
    ) : null;

  return (
    <div class="timeline">
      <h1 class="hidden">Timeline</h1>
      <div class="timeline-bar">
        <input
          type="search"
          class="field timeline-search"
          placeholder="Search events  /"
          aria-label="Search events by name"
          value={query}
          onInput={(event) => refine({q: event.currentTarget.value})}
          onKeyDown={(event) => {
            if (event.key === 'Enter') entered.value = event.currentTarget.value;
          }}
        />
        <span class="grow" />
        {(['CSV', 'JSON'] as const).map((form) => (
          <button
            type="button"
            key={form}
            class="button"
            data-tip="Copies the statistics of what is in view, by name"
            onClick={() => void copyView(form, stage.current!.motion.target)}
          >
            {`Copy ${form}`}
          </button>
        ))}
        <button
          type="button"
          class="button"
          onClick={() => stage.current?.show({from: 0, to: length})}
          data-tip="The whole run (0)"
        >
          Whole run
        </button>
        <button
          type="button"
          class="button"
          aria-pressed={legend}
          onClick={() => setLegend(!legend)}
        >
          Colours
        </button>
      </div>
      <div class="timeline-body">
        <div class="stage">
          <div class="stage-scroll" ref={scroller} aria-label="Rows of the timeline" role="group">
            <div class="stage-names" style={{height: `${(layout?.height ?? 0) + RULER}px`}}>
              {layout?.groups.map((group) => (
                <button
                  type="button"
                  key={group.name}
                  class="group-name"
                  style={{top: `${group.y + RULER}px`, height: `${HEADING}px`}}
                  aria-expanded={group.open}
                  onClick={() => {
                    const next = new Set(closed);
                    if (!next.delete(group.name)) next.add(group.name);
                    setClosed(next);
                  }}
                >
                  <i aria-hidden="true">{group.open ? '▾' : '▸'}</i>
                  {group.name}
                  {!group.open && <span class="faint">{` · ${group.tracks} rows`}</span>}
                </button>
              ))}
              {layout?.tracks.map((place) => (
                <div
                  key={place.track.id}
                  class="track-name"
                  style={{top: `${place.y + RULER}px`, height: `${Math.min(place.height, 40)}px`}}
                  data-tip={`${place.track.label}\n${place.track.events.toLocaleString('en')} events`}
                >
                  <Cut text={place.track.label} />
                </div>
              ))}
            </div>
          </div>
          <div class="stage-corner" style={{height: `${RULER}px`}} />
          <GroupInView name={pinned} />
          <canvas
            ref={canvas}
            class="stage-canvas"
            role="img"
            aria-label={`Timeline of ${tracks.tracks.length} rows. W and S zoom, A and D move, slash searches.`}
          />
          <Hover under={under} tracks={tracks} />
        </div>
        {panel}
      </div>
    </div>
  );
}
