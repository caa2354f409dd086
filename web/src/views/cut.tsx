// A name that may be too long for its place: what has no room goes missing in the middle, since names
// of one family differ at their end. The browser decides how much, by the width there is.
const TAIL = 20; // letters of the end that stay

export function Cut({text}: {text: string}) {
  const at = text.length > 2 * TAIL ? text.length - TAIL : text.length;
  return (
    <span class="cut">
      <span>{text.slice(0, at)}</span>
      {at < text.length && <span>{text.slice(at)}</span>}
    </span>
  );
}
