// Decoding at the door: what comes from the server is checked once, with a sentence that names the
// place, and has the types of this program afterwards.

export class DecodeError extends Error {}

export type Decoder<T> = (json: unknown, where: string) => T;

function fail(where: string, expected: string, got: unknown): never {
  const text = JSON.stringify(got) ?? 'nothing';
  throw new DecodeError(`${where}: expected ${expected}, got ${text.slice(0, 60)}`);
}

export const text: Decoder<string> = (json, where) =>
  typeof json === 'string' ? json : fail(where, 'a text', json);

export const bool: Decoder<boolean> = (json, where) =>
  typeof json === 'boolean' ? json : fail(where, 'true or false', json);

// Whole numbers from 2^53 on arrive as text; where they are times or sizes the last digits of so
// large ones cannot be seen.
export const number: Decoder<number> = (json, where) => {
  if (typeof json === 'number') return json;
  if (typeof json === 'string' && /^-?\d+$/.test(json)) return Number(json);
  return fail(where, 'a number', json);
};

export function list<T>(item: Decoder<T>): Decoder<T[]> {
  return (json, where) =>
    Array.isArray(json)
      ? json.map((entry, i) => item(entry, `${where}[${i}]`))
      : fail(where, 'a list', json);
}

export function orNull<T>(decoder: Decoder<T>): Decoder<T | null> {
  return (json, where) => (json === null || json === undefined ? null : decoder(json, where));
}

export function or<T>(decoder: Decoder<T>, fallback: T): Decoder<T> {
  return (json, where) => (json === null || json === undefined ? fallback : decoder(json, where));
}

export function record(json: unknown, where: string): Record<string, unknown> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
    return json as Record<string, unknown>;
  }
  return fail(where, 'an object', json);
}

// An object by the decoders of its members; members not asked for are left alone.
export function object<T>(members: {[K in keyof T]: Decoder<T[K]>}): Decoder<T> {
  return (json, where) => {
    const source = record(json, where);
    const result = {} as T;
    for (const key in members) result[key] = members[key](source[key], `${where}.${key}`);
    return result;
  };
}

export const anything: Decoder<unknown> = (json) => json;
