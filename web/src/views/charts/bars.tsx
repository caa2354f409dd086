// Bars that lie: one line per thing, its name in front, its value after it; several parts are stacked
// and named in a legend.
import {middleCuts} from '../../render/cells';
import {shareText} from '../../render/numbers';
import {useWidth} from '../width';

const LETTER = 6.9; // pixels of a letter, on average

export interface BarPart {
  name: string;
  value: number;
  colour: string;
  text: string;
}
export interface BarLine {
  label: string;
  tip?: string;
  href?: string | undefined;
  parts: BarPart[];
  text: string; // after the bar
}

export function Legend({
  items,
}: {
  items: readonly {name: string; colour: string; tip?: string; share?: number}[];
}) {
  return (
    <ul class="legend">
      {items.map((item) => (
        <li key={item.name} data-tip={item.tip} class={item.share === 0 ? 'nothing' : undefined}>
          <i style={{background: item.colour}} aria-hidden="true" />
          {item.name}
          {item.share !== undefined && <b class="numbers">{shareText(item.share)}</b>}
        </li>
      ))}
    </ul>
  );
}

export function Bars({
  lines,
  label,
  whole,
}: {
  lines: readonly BarLine[];
  label: string;
  whole?: number;
}) {
  const sums = lines.map((line) =>
    line.parts.reduce((sum, part) => sum + Math.max(part.value, 0), 0),
  );
  const [list, width] = useWidth<HTMLUListElement>();
  // The column of names is as wide as the longest wants to be, but at most a part of the whole.
  const longest = Math.max(...lines.map((line) => line.label.length), 0) * LETTER;
  const room = Math.max(90, Math.min(longest + 8, width * 0.42));
  const letters = Math.max(12, Math.floor(room / LETTER));
  const names = middleCuts(
    lines.map((line) => line.label),
    letters,
  );
  const most = whole ?? Math.max(...sums, 1e-30);
  return (
    <ul ref={list} class="bars" aria-label={label} style={{'--names': `${Math.round(room)}px`}}>
      {lines.map((line, i) => (
        <li key={i}>
          <span
            class="bar-name"
            data-tip={line.tip ?? (line.label.length > letters ? line.label : undefined)}
          >
            {line.href === undefined ? names[i] : <a href={line.href}>{names[i]}</a>}
          </span>
          <span class="bar-track" aria-hidden="true">
            {line.parts
              .filter((part) => part.value > 0)
              .map((part) => (
                <i
                  key={part.name}
                  style={{width: `${(100 * part.value) / most}%`, background: part.colour}}
                  data-tip={`${part.name}\n${part.text}`}
                />
              ))}
          </span>
          <span class="bar-text numbers">{line.text}</span>
        </li>
      ))}
    </ul>
  );
}
