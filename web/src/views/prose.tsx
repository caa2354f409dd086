// Sentences of the program, in which `words` between backticks are code.
export function Prose({text}: {text: string}) {
  return (
    <>
      {text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>))}
    </>
  );
}
