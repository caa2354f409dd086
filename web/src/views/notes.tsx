// What was odd about the files: nothing is dropped in silence.
import type {Note} from '../api/run';
import {countText} from '../render/numbers';
import {Prose} from './prose';

export function NotesCard({
  notes,
  failures,
}: {
  notes: readonly Note[];
  failures: readonly {path: string; message: string}[];
}) {
  if (notes.length === 0 && failures.length === 0) return null;
  return (
    <section class="card" aria-label="Notes about the data">
      <h2>Odd things in the files</h2>
      <p>They were read all the same; what this means for the numbers stands beside each.</p>
      <ul class="notes">
        {failures.map((failure) => (
          <li key={failure.path + failure.message} class="lost">
            <b>{failure.path}</b>
            <span>{failure.message}</span>
          </li>
        ))}
        {notes.map((note) => (
          <li key={note.id + note.detail} class={note.severity === 'info' ? '' : 'lost'}>
            <b>
              {note.id.replaceAll('_', ' ')} <i class="numbers">{countText(note.count)}×</i>
            </b>
            <span>
              <Prose text={note.meaning} />
              {note.detail !== '' && <em>{` First: ${note.detail}`}</em>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
