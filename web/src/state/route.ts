// Where in the page one is stands in the address after #, so that every view can be shared and
// the browser's own back button works: #/timeline?from=12&to=99&event=0.0.2483
import {computed, signal} from '@preact/signals';

export interface Route {
  readonly path: string; // "timeline", "ask/kernels"; "" is the overview
  readonly params: Readonly<Record<string, string>>;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign was typed
  }
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  return {
    path: decoded(path.replace(/\/+$/, '')),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

export type Params = Readonly<Record<string, string | number | null | undefined>>;

// Parameters that are null or empty are left out; the rest keep their order.
export function href(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return `#/${path.split('/').map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

const current = signal<Route>(parseRoute(location.hash));
export const route = computed(() => current.value);

addEventListener('hashchange', () => {
  current.value = parseRoute(location.hash);
});

export function go(path: string, params: Params = {}): void {
  location.hash = href(path, params);
}

// Changes of the view that the back button should not step through one by one: zooming, typing a filter.
export function refine(changes: Params): void {
  const {path, params} = current.peek();
  const address = href(path, {...params, ...changes});
  if (address === location.hash) return;
  history.replaceState(null, '', address);
  current.value = parseRoute(address);
}
