// Whether people can read what is on the screen.

export const SMALLEST = 11; // pixels of a page that is not enlarged

// What is wrong with the text on the screen. A text counts with what its ancestors leave of it: rows
// that are scrolled away are not there.
export function troubles(smallest: number): string[] {
  const found: string[] = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} px wide`);
  for (const table of document.querySelectorAll('.scroll')) {
    if (table.scrollWidth > table.clientWidth)
      found.push(`the table “${table.getAttribute('aria-label')}” is ${table.scrollWidth} px wide`);
  }
  const seen: {node: Node; text: string; box: DOMRect}[] = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const open = document.querySelector('dialog[open]');
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent?.trim() ?? '';
    const element = walk.currentNode.parentElement!;
    if (text === '' || element.closest('.hidden, .skip, .tip, noscript, select') !== null) continue;
    if (open !== null && !open.contains(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    for (const line of range.getClientRects()) {
      let {left, right, top, bottom} = line;
      if (right - left < 1 || !element.checkVisibility()) continue;
      for (let up: Element | null = element; up !== null; up = up.parentElement) {
        const style = getComputedStyle(up);
        if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
        const box = up.getBoundingClientRect();
        const isCut = right > box.right + 1 || left < box.left - 1;
        if (isCut && style.textOverflow !== 'ellipsis' && style.overflowX === 'hidden')
          found.push(`“${text}” is cut off`);
        left = Math.max(left, box.left);
        right = Math.min(right, box.right);
        top = Math.max(top, box.top);
        bottom = Math.min(bottom, box.bottom);
      }
      if (right - left < 1 || bottom - top < 3) continue;
      seen.push({
        node: walk.currentNode,
        text,
        box: new DOMRect(left, top, right - left, bottom - top),
      });
    }
    if (Number.parseFloat(getComputedStyle(element).fontSize) < smallest)
      found.push(`“${text}” is tiny`);
  }
  if (seen.length < 10) found.push('there is hardly any text');
  seen.forEach((a, i) => {
    for (const b of seen.slice(i + 1)) {
      if (a.node === b.node) continue; // what is shortened has several boxes in one place
      const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      // Boxes of lines are a little higher than their letters.
      if (width > 2 && height > 5) found.push(`“${a.text}” stands on “${b.text}”`);
    }
  });
  return found;
}
