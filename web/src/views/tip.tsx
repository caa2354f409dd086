// One tooltip for the whole page: elements carry their text in data-tip, for the pointer and for
// the keyboard. A line before the first newline is bold.
import {signal} from '@preact/signals';

const shown = signal<{text: string; x: number; y: number; below: boolean} | null>(null);

function show(target: EventTarget | null): void {
  const element = target instanceof Element ? target.closest('[data-tip]') : null;
  const text = element?.getAttribute('data-tip') ?? '';
  if (element === null || text === '') {
    shown.value = null;
    return;
  }
  const box = element.getBoundingClientRect();
  const below = box.top < 120;
  shown.value = {
    text,
    x: box.left + Math.min(box.width / 2, 160),
    y: below ? box.bottom + 8 : box.top - 8,
    below,
  };
}

addEventListener('pointerover', (event) => show(event.target));
addEventListener('focusin', (event) => show(event.target));
addEventListener('focusout', () => show(null));
addEventListener('scroll', () => show(null), true);
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') shown.value = null;
});

export function Tip() {
  const tip = shown.value;
  if (tip === null) return null;
  const left = Math.min(Math.max(tip.x - 170, 8), innerWidth - 348);
  const [first = '', ...rest] = tip.text.split('\n');
  const style = tip.below
    ? {left: `${left}px`, top: `${tip.y}px`}
    : {left: `${left}px`, bottom: `${innerHeight - tip.y}px`};
  return (
    <div class="tip" role="tooltip" style={style}>
      {rest.length > 0 ? <b>{first}</b> : first}
      {rest.length > 0 && <div>{rest.join('\n')}</div>}
    </div>
  );
}
