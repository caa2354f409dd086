// Sentences of the program, in which `words` between backticks are code. A line may end between the
// words of code, but not after the hyphens of an option.
export function Prose({text}: {text: string}) {
  return (
    <>
      {text
        .split(/`([^`]+)`/)
        .map((part, i) => (i % 2 === 0 ? part : <Words key={i} text={part} />))}
    </>
  );
}

function Words({text}: {text: string}) {
  return (
    <code>
      {text.split(' ').flatMap((word, i) => [
        i === 0 ? '' : ' ',
        <span key={i} class="word">
          {word}
        </span>,
      ])}
    </code>
  );
}
