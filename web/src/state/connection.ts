// Whether the server is there. One that does not answer is asked now and then; when it does again,
// what could not be fetched meanwhile is fetched, and the page need not be loaded anew.
import {effect, signal} from '@preact/signals';
import {isAnswered, isRefused, lookForServer} from '../api/http';
import {askAgain} from './loaded';
import {fetchRun, run} from './run';

// Replaced: another server stands there, which does not know this page.
export const connection = signal<'there' | 'lost' | 'replaced'>('there');
// How often it came back; what is not fetched through loaded.ts asks again when this changes.
export const returns = signal(0);

const EVERY_MS = 1500;

async function look(): Promise<void> {
  connection.value = await lookForServer();
  if (connection.value === 'lost') setTimeout(() => void look(), EVERY_MS);
  if (connection.value !== 'there') return;
  ++returns.value;
  if (run.peek().state === 'failed') void fetchRun();
  askAgain();
}

effect(() => {
  if (isRefused.value) connection.value = 'replaced';
});
effect(() => {
  if (isAnswered.value || connection.value !== 'there') return;
  connection.value = 'lost';
  setTimeout(() => void look(), EVERY_MS);
});
