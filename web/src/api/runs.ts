// What can be opened below the folder that the server was given.
import {type Decoder, list, number, object, or, orNull, text} from './json';

export interface RunEntry {
  name: string;
  path: string; // below the root; the name of the run
  kind: string; // run, folder, file
  traces: number; // files of a folder that may be recordings
  bytes: number | null;
  modified_ms: number;
  state: string | null; // loading, ready, failed; null: not asked for yet
}

export interface RunList {
  root: string;
  folder: string;
  entries: RunEntry[];
  left_out: number;
}

const milliseconds: Decoder<number> = (json, where) =>
  typeof json === 'string' ? Number(BigInt(json) / 1_000_000n) : number(json, where) / 1e6;

export const runList: Decoder<RunList> = (json, where) => {
  const found = object<
    Omit<RunList, 'entries'> & {
      entries: (Omit<RunEntry, 'modified_ms'> & {modified_unix_ns: number})[];
    }
  >({
    root: text,
    folder: text,
    entries: list(
      object<Omit<RunEntry, 'modified_ms'> & {modified_unix_ns: number}>({
        name: text,
        path: text,
        kind: text,
        traces: or(number, 0),
        bytes: orNull(number),
        modified_unix_ns: milliseconds,
        state: orNull(text),
      }),
    ),
    left_out: or(number, 0),
  })(json, where);
  return {
    ...found,
    entries: found.entries.map(({modified_unix_ns, ...entry}) => ({
      ...entry,
      modified_ms: modified_unix_ns,
    })),
  };
};
