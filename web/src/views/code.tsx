// Code that is copied with one click. A line stays one line, as it is typed; what is too long is
// reached by scrolling inside of the block.
import {copy} from '../state/copying';

export function Code({text}: {text: string}) {
  return (
    <pre>
      <code>{text}</code>
      <button
        type="button"
        class="button plain"
        aria-label="Copy this code"
        onClick={() => void copy(text, 'Code')}
      >
        Copy
      </button>
    </pre>
  );
}
