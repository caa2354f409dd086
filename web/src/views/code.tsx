// Code that is copied with one click. A line that is too long goes on further in than it began, so
// that one still sees what is inside of what.
import {copy} from '../state/copying';

const FURTHER = 4; // letters

export function Code({text}: {text: string}) {
  return (
    <pre>
      <code>
        {text.split('\n').map((line, i) => {
          const indent = line.length - line.trimStart().length + FURTHER;
          return (
            <span key={i} style={{paddingLeft: `${indent}ch`, textIndent: `-${indent}ch`}}>
              {`${line}\n`}
            </span>
          );
        })}
      </code>
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
