// What is fetched is loading, failed or there; views say something sensible for each of the three.
import {type Signal, signal} from '@preact/signals';
import {ServerError} from '../api/http';

export type Loaded<T> =
  | {readonly state: 'loading'}
  // Asking again may help, unless the question itself was wrong.
  | {readonly state: 'failed'; readonly message: string; readonly again?: () => void}
  | {readonly state: 'ready'; readonly value: T};

export const LOADING: Loaded<never> = {state: 'loading'};

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const unanswered = new Set<() => void>();
const BUSY_MS = 1000; // the server's Retry-After

// Once the server answers again, or has read the run: what it did not answer is asked again.
export function askAgain(): void {
  const all = [...unanswered];
  unanswered.clear();
  for (const again of all) again();
}

export function load<T>(fetch: () => Promise<T>, into: Signal<Loaded<T>> = signal(LOADING)) {
  fetch().then(
    (value) => {
      into.value = {state: 'ready', value};
    },
    (error: unknown) => {
      const message = messageOf(error);
      const again = () => {
        unanswered.delete(again);
        into.value = LOADING;
        load(fetch, into);
      };
      const code = error instanceof ServerError ? error.code : '';
      if (code === 'unreachable' || code === 'loading') unanswered.add(again);
      if (code === 'busy') setTimeout(again, BUSY_MS);
      if (code === 'busy' || code === 'loading') return; // it comes by itself
      const isWrong = code === 'bad_request' || code === 'not_found' || code === 'unauthorized';
      into.value = isWrong ? {state: 'failed', message} : {state: 'failed', message, again};
    },
  );
  return into;
}

// Once it is no longer loading.
export function settled<T>(of: Signal<Loaded<T>>): Promise<Loaded<T>> {
  return new Promise((resolve) => {
    const stop = of.subscribe((now) => {
      if (now.state === 'loading') return;
      resolve(now);
      queueMicrotask(() => stop());
    });
  });
}

// One promise per key: asking twice costs nothing. What failed stays failed until it is wanted
// again: a view asks whenever it is drawn, and would go on for ever.
export class Kept<T> {
  private readonly entries = new Map<string, Signal<Loaded<T>>>();
  constructor(private readonly most = 64) {}

  get(key: string, fetch: () => Promise<T>): Signal<Loaded<T>> {
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const made = load(fetch);
    this.entries.set(key, made);
    if (this.entries.size > this.most) {
      const oldest = this.entries.keys().next().value;
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    return made;
  }
}
