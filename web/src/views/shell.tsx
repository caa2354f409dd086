// The frame: the bar on top, the page below it, help, and what is shown while a run loads.

import {signal} from '@preact/signals';
import type {ComponentChildren} from 'preact';
import {useEffect, useRef} from 'preact/hooks';
import {bytesText, shareText} from '../render/numbers';
import {connection} from '../state/connection';
import {toast} from '../state/copying';
import {messageOf} from '../state/loaded';
import {href, route} from '../state/route';
import {progress, readyRun, root, run, titleOf} from '../state/run';
import {switchTheme, theme} from '../state/theme';
import {PAGES} from './pages';
import {Prose} from './prose';
import {Tip} from './tip';

export const helpOpen = signal(false);

export function Shell({children, whole}: {children: ComponentChildren; whole: boolean}) {
  const found = readyRun.value;
  const path = route.value.path;
  // Until a run is chosen there is nothing that other pages could show.
  const waits = run.value.state === 'ready' && run.value.value.state === 'none';
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => document.getElementById('content')?.focus()}
      >
        To the content
      </button>
      <header class="top">
        <a class="brand" href={href('')}>
          <img src="./icon.svg" alt="" />
          stepscope
        </a>
        <nav aria-label="Pages">
          {(waits ? [] : PAGES).map((page) => (
            <a
              key={page.path}
              href={href(page.path)}
              aria-current={
                path === page.path || (page.path === 'ask' && path.startsWith('ask/'))
                  ? 'page'
                  : undefined
              }
              data-tip={page.about}
            >
              {page.title}
            </a>
          ))}
        </nav>
        <span class="room" />
        {found !== null && root.value === null && (
          <span class="run-name" data-tip={found.paths.join('\n')}>
            <bdi>{titleOf(found)}</bdi>
          </span>
        )}
        {root.value !== null && (
          <a
            class="run-name choose"
            href={href('open')}
            aria-current={path === 'open' ? 'page' : undefined}
            data-tip={`${found === null ? '' : `${found.paths.join('\n')}\n`}Choose another run (O)`}
          >
            <bdi>{found === null ? 'Choose a run' : titleOf(found)}</bdi>
            <i aria-hidden="true">▾</i>
          </a>
        )}
        <button
          type="button"
          class="button plain icon"
          aria-label={theme.value === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
          data-tip={theme.value === 'dark' ? 'Light theme' : 'Dark theme'}
          onClick={switchTheme}
        >
          <ThemeIcon />
        </button>
        <button
          type="button"
          class="button plain icon"
          aria-label="Help and keys"
          data-tip="Keys and words (?)"
          onClick={() => {
            helpOpen.value = true;
          }}
        >
          ?
        </button>
      </header>
      <Connection />
      <main id="content" class={whole ? 'whole' : ''} tabIndex={-1}>
        {children}
      </main>
      <Help />
      <Tip />
      <div class="hidden" aria-live="polite">
        {toast.value}
      </div>
      {toast.value !== '' && (
        <div class="toast" aria-hidden="true">
          {toast.value}
        </div>
      )}
    </>
  );
}

// What is on the screen stays there; it may just not be all.
function Connection() {
  if (connection.value === 'there' || run.value.state === 'failed') return null;
  return (
    <p class="connection" role="alert">
      <Prose
        text={
          connection.value === 'lost'
            ? 'The server does not answer. Is `stepscope serve` still running, and the tunnel open? This page goes on by itself once it does.'
            : 'The server was started again: open the address that it printed, with its new token.'
        }
      />
    </p>
  );
}

function ThemeIcon() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
    </svg>
  );
}

// Until the run is there the page says how far it is, or why it will never be.
export function LoadingPage() {
  const state = run.value;
  if (state.state === 'failed')
    return (
      <Trouble
        title={
          connection.value === 'there' ? 'The server refuses this' : 'The server does not answer'
        }
        text={state.message}
      />
    );
  if (state.state === 'ready' && state.value.state === 'failed') {
    return (
      <Trouble
        title="This could not be opened"
        text={state.value.error ?? messageOf('no reason was given')}
      />
    );
  }
  const now = progress.value;
  const known = now !== null && now.bytes_total > 0;
  const share = known ? now.bytes_done / now.bytes_total : 0;
  const title = state.state === 'ready' ? titleOf(state.value) : '';
  return (
    <div class="loading-page card">
      <h1 class="loading-title">{title === '' ? 'Reading the files' : `Reading ${title}`}</h1>
      <div
        class="progress"
        role="progressbar"
        aria-label="Share of the files that is read"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
      >
        <i style={{width: `${Math.max(share * 100, 2)}%`}} />
      </div>
      <p class="soft small numbers" role="status">
        {!known
          ? 'Looking at what is there …'
          : share >= 1 && now.files_done === now.files_total
            ? `All ${bytesText(now.bytes_total)} are read. Preparing the timeline and the analyses …`
            : `${bytesText(now.bytes_done)} of ${bytesText(now.bytes_total)} · ${shareText(share)} · ${now.files_done} of ${now.files_total} files`}
      </p>
    </div>
  );
}

function Trouble({title, text}: {title: string; text: string}) {
  return (
    <div class="loading-page card state bad" role="alert">
      <h1 class="loading-title">{title}</h1>
      <p>
        <Prose text={text} />
      </p>
      {root.value !== null && (
        <p>
          <a href={href('open')}>Choose another run</a>
        </p>
      )}
    </div>
  );
}

const KEYS: readonly (readonly [string[], string])[] = [
  [['W', 'S'], 'zoom the timeline in and out'],
  [['A', 'D'], 'move in time; also ← and →'],
  [['↑', '↓'], 'move through the rows'],
  [['/'], 'search the timeline, or filter a table'],
  [['N', 'P'], 'next and previous hit of a search'],
  [['F'], 'show the chosen event or stretch in full width'],
  [['M'], 'statistics of the chosen event, or of what is in view'],
  [['0'], 'show the whole run'],
  [['Esc'], 'close what is open, choose nothing'],
  [['1', '…', String(PAGES.length)], 'go to a page'],
  [['O'], 'choose another run, where a folder is served'],
  [['?'], 'this help'],
];

const WORDS: readonly (readonly [string, string])[] = [
  ['rank', 'one training process; usually it drives one GPU'],
  ['step', 'one turn of the training loop: forward, backward, optimizer'],
  ['kernel', 'a program that runs on the GPU'],
  ['stream', 'a queue of work on a GPU; work of one stream runs in order'],
  ['launch', 'the call by which the host puts work into a stream'],
  ['operator', 'a function of the framework, such as a matrix product'],
  ['idle', 'time in which a GPU has nothing to do'],
];

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [helpOpen.value]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      onClose={() => {
        helpOpen.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="soft small help-mouse">
        In the timeline the wheel zooms where the pointer is, dragging moves, and dragging with
        Shift or along the ruler chooses a stretch of time.
      </p>
      <h2>Words</h2>
      <dl class="keys">
        {WORDS.map(([word, text]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="soft small">
        <a href="./licenses.txt">Licences</a> of the libraries and fonts of this page.
      </p>
      <form method="dialog" class="help-close">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
