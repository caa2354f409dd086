// Asking the server. Addresses are relative, since tunnels and proxies change all that stands in
// front; the version of the run lets the browser keep what does not change.
import {signal} from '@preact/signals';
import {type Decoder, object, text} from './json';

export class ServerError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

// Which run below the server's folder this page shows; '' is the one given at its start.
export const chosenRun: string =
  new URLSearchParams(globalThis.location?.search ?? '').get('run') ?? '';

let version = '';
export function setVersion(value: string): void {
  version = value;
}

// An answer that is not read to its end holds one of the browser's few connections.
function answered(response: Response): Promise<unknown> {
  return response.arrayBuffer();
}

// The token is in the address once; from then on the cookie identifies the user, and a shared address
// does not carry it.
export async function forgetToken(): Promise<void> {
  const url = new URL(location.href);
  if (!url.searchParams.has('token')) return;
  await answered(
    await fetch(`api/run?token=${encodeURIComponent(url.searchParams.get('token')!)}`),
  );
  url.searchParams.delete('token');
  history.replaceState(null, '', url);
}

export type Query = Readonly<Record<string, string | number | null | undefined>>;

export function address(path: string, query: Query = {}, kept = true): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) params.set(key, String(value));
  }
  if (chosenRun !== '') params.set('run', chosenRun);
  if (kept && version !== '') params.set('v', version);
  const rest = params.toString();
  return rest === '' ? path : `${path}?${rest}`;
}

const errorBody = object<{error: {code: string; message: string}}>({
  error: object({code: text, message: text}),
});

async function explain(response: Response): Promise<ServerError> {
  try {
    const {error} = errorBody(await response.json(), 'error');
    return new ServerError(error.code, error.message);
  } catch {
    return new ServerError('unknown', `The server answered ${response.status}.`);
  }
}

// Whether there was an answer to the last question, whatever it was.
export const isAnswered = signal(true);
// Whether the run has to be read before the server can answer: one that was not looked at
// for long is closed where others were opened.
export const isBeingRead = signal(false);
// Whether the server does not know this page: it was started again.
export const isRefused = signal(false);

async function ask(url: string, abort?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, abort ? {signal: abort} : {});
    isAnswered.value = true;
  } catch (error) {
    if (abort?.aborted) throw error;
    isAnswered.value = false;
    throw new ServerError(
      'unreachable',
      'The server does not answer. Is `stepscope serve` still running, and the tunnel open?',
    );
  }
  if (response.ok) return response;
  const error = await explain(response);
  if (error.code === 'loading') isBeingRead.value = true;
  if (error.code === 'unauthorized') isRefused.value = true;
  throw error;
}

// Asks the server itself, not what the browser has kept of it.
export async function lookForServer(): Promise<'there' | 'lost' | 'replaced'> {
  try {
    const response = await fetch(address('api/run', {}, false), {cache: 'no-store'});
    isAnswered.value = true;
    await answered(response);
    return response.status === 401 ? 'replaced' : 'there';
  } catch {
    return 'lost';
  }
}

export async function getJson<T>(
  decoder: Decoder<T>,
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<T> {
  const response = await ask(address(path, query), signal);
  return decoder(await response.json(), path);
}

// What changes while the page is open, asked without the version that would let it be kept.
export async function getNow<T>(decoder: Decoder<T>, path: string): Promise<T> {
  const response = await ask(address(path, {}, false));
  return decoder(await response.json(), path);
}

export async function getBytes(path: string, query: Query = {}): Promise<ArrayBuffer> {
  return (await ask(address(path, query))).arrayBuffer();
}
