// Where the server was given a folder: what lies below it, a folder at a time, and a click to open it.
import {useSignal} from '@preact/signals';
import {useEffect} from 'preact/hooks';
import {chosenRun, getJson} from '../api/http';
import {type RunEntry, type RunList, runList} from '../api/runs';
import {bytesText, counted, countText} from '../render/numbers';
import {returns} from '../state/connection';
import {LOADING, type Loaded, messageOf} from '../state/loaded';
import {href, refine, route} from '../state/route';
import {run} from '../state/run';
import {CopyButtons} from './copy_buttons';
import {Prose} from './prose';
import {Empty, When} from './states';

// Another run is another page: nothing of the one before is kept.
export function runHref(path: string): string {
  return `./?run=${encodeURIComponent(path)}#/`;
}

export function OpenPage() {
  const folder = route.value.params.folder ?? '';
  const found = useSignal<Loaded<RunList>>(LOADING);
  useEffect(() => {
    const asked = new AbortController();
    found.value = LOADING;
    getJson(runList, 'api/runs', folder === '' ? {} : {folder}, asked.signal).then(
      (value) => {
        found.value = {state: 'ready', value};
      },
      (error: unknown) => {
        if (!asked.signal.aborted) found.value = {state: 'failed', message: messageOf(error)};
      },
    );
    return () => asked.abort();
  }, [folder, returns.value]);
  return (
    <>
      <div class="head">
        <div>
          <h1>Choose a run</h1>
          <p>Traces, memory snapshots and recorded runs below the folder that is served.</p>
        </div>
        {run.value.state === 'ready' && run.value.value.paths.length > 0 && chosenRun !== '' && (
          <a class="button" href={runHref(chosenRun)}>
            Back to the open run
          </a>
        )}
      </div>
      <When of={found.value}>{(list) => <Listing list={list} folder={folder} />}</When>
    </>
  );
}

const SHAPE = {
  name: 'runs',
  about: 'something that can be opened',
  drawing: null,
  columns: [
    {name: 'path', type: 'text', unit: '', about: ''},
    {name: 'kind', type: 'text', unit: '', about: ''},
    {name: 'traces', type: 'integer', unit: 'count', about: ''},
    {name: 'bytes', type: 'integer', unit: 'bytes', about: ''},
    {name: 'modified', type: 'text', unit: '', about: ''},
  ],
} as const;

function Listing({list, folder}: {list: RunList; folder: string}) {
  const {params} = route.value;
  const newest = params.order !== 'name';
  const wanted = (params.filter ?? '').toLowerCase();
  const shown = list.entries
    .filter((entry) => entry.name.toLowerCase().includes(wanted))
    .sort((a, b) => (newest ? b.modified_ms - a.modified_ms : 0));
  const table = {
    shape: {...SHAPE, columns: [...SHAPE.columns]},
    rows: shown.map((entry) => [
      entry.path,
      entry.kind,
      entry.traces,
      entry.bytes,
      new Date(entry.modified_ms).toISOString(),
    ]),
  };
  return (
    <section class="card" aria-label="Runs">
      <div class="tools">
        <Crumbs root={list.root} folder={folder} />
        <span class="grow" />
        <input
          class="field filter"
          type="search"
          placeholder="Filter names"
          aria-label="Filter by name"
          value={params.filter ?? ''}
          onInput={(event) => refine({filter: event.currentTarget.value})}
        />
        <div class="segments" role="group" aria-label="Order">
          <button type="button" aria-pressed={newest} onClick={() => refine({order: null})}>
            Newest first
          </button>
          <button type="button" aria-pressed={!newest} onClick={() => refine({order: 'name'})}>
            By name
          </button>
        </div>
        <CopyButtons table={table} />
      </div>
      {shown.length === 0 ? (
        <Empty title={list.entries.length === 0 ? 'Nothing to open here' : 'No such name'}>
          {list.entries.length === 0 ? (
            <Prose text="This folder holds no trace, no memory snapshot and no recorded run. Record one with `stepscope run -- python train.py`." />
          ) : (
            'No name in this folder contains that text.'
          )}
        </Empty>
      ) : (
        <ul class="runs">
          {shown.map((entry) => (
            <OneEntry key={entry.path} entry={entry} />
          ))}
        </ul>
      )}
      {list.left_out > 0 && (
        <p class="soft small">{`${countText(list.left_out)} more are not listed: look inside a folder, or serve a smaller one.`}</p>
      )}
    </section>
  );
}

function Crumbs({root, folder}: {root: string; folder: string}) {
  const parts = folder === '' ? [] : folder.split('/');
  return (
    <nav class="crumbs" aria-label="Folder">
      <a href={href('open')} aria-current={parts.length === 0 ? 'location' : undefined}>
        {root.replace(/\/+$/, '').split('/').pop() || root}
      </a>
      {parts.map((part, i) => (
        <span key={i}>
          <i aria-hidden="true">/</i>
          <a
            href={href('open', {folder: parts.slice(0, i + 1).join('/')})}
            aria-current={i === parts.length - 1 ? 'location' : undefined}
          >
            {part}
          </a>
        </span>
      ))}
    </nav>
  );
}

function aboutEntry(entry: RunEntry): string {
  if (entry.kind === 'run') return 'recorded run';
  if (entry.kind === 'file') return bytesText(entry.bytes ?? 0);
  return entry.traces > 0 ? `folder of ${counted(entry.traces, 'file')}` : 'folder';
}

const STATES: Readonly<Record<string, string>> = {
  loading: 'being read',
  ready: 'at hand',
  failed: 'could not be read',
};

function OneEntry({entry}: {entry: RunEntry}) {
  const opens = entry.kind !== 'folder' || entry.traces > 0;
  const inside = href('open', {folder: entry.path});
  return (
    <li>
      <a class="run-entry" href={opens ? runHref(entry.path) : inside}>
        {entry.name}
        {!opens && '/'}
      </a>
      <span class="soft">{aboutEntry(entry)}</span>
      <span class="soft numbers">
        {new Date(entry.modified_ms).toLocaleString('en-GB', {
          dateStyle: 'medium',
          timeStyle: 'short',
        })}
      </span>
      <span class={`small ${entry.state === 'failed' ? 'bad-text' : 'soft'}`}>
        {entry.path === chosenRun ? 'open' : (STATES[entry.state ?? ''] ?? '')}
      </span>
      <span class="run-tools">
        {entry.kind !== 'file' && (
          <a href={inside} aria-label={`Look inside ${entry.name}`}>
            Look inside
          </a>
        )}
        {opens && (
          <a class="button" href={runHref(entry.path)} aria-label={`Open ${entry.name}`}>
            Open
          </a>
        )}
      </span>
    </li>
  );
}
