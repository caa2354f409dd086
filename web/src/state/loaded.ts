// What is fetched is loading, failed or there; views say something sensible for each of the three.
import {type Signal, signal} from '@preact/signals';

export type Loaded<T> =
  | {readonly state: 'loading'}
  | {readonly state: 'failed'; readonly message: string}
  | {readonly state: 'ready'; readonly value: T};

export const LOADING: Loaded<never> = {state: 'loading'};

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function load<T>(fetching: Promise<T>, into: Signal<Loaded<T>> = signal(LOADING)) {
  fetching.then(
    (value) => {
      into.value = {state: 'ready', value};
    },
    (error: unknown) => {
      into.value = {state: 'failed', message: messageOf(error)};
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

// One promise per key: asking twice costs nothing, and a failure may be asked again.
export class Kept<T> {
  private readonly entries = new Map<string, Signal<Loaded<T>>>();
  constructor(private readonly most = 64) {}

  get(key: string, fetch: () => Promise<T>): Signal<Loaded<T>> {
    const known = this.entries.get(key);
    if (known !== undefined && known.peek().state !== 'failed') return known;
    const made = load(fetch(), known);
    if (known !== undefined) known.value = LOADING;
    this.entries.delete(key);
    this.entries.set(key, made);
    if (this.entries.size > this.most) {
      const oldest = this.entries.keys().next().value;
      if (oldest !== undefined) this.entries.delete(oldest);
    }
    return made;
  }
}
