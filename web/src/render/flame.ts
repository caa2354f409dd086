// A tree given by rows in the order of a walk, each with its depth and a value that holds its
// children's, becomes boxes: left edge and width as shares of the whole.

export interface Box {
  row: number;
  depth: number;
  left: number;
  width: number;
}

export function flameBoxes(depths: readonly number[], values: readonly number[]): Box[] {
  const total = values.reduce(
    (sum, value, i) => sum + (depths[i] === 0 ? Math.max(value, 0) : 0),
    0,
  );
  if (total <= 0) return [];
  const boxes: Box[] = [];
  // Where the next child of each depth begins, and where its parent ends.
  const next: number[] = [0];
  const end: number[] = [1];
  for (let i = 0; i < depths.length; ++i) {
    const depth = depths[i]!;
    const value = values[i]!;
    if (!(value > 0) || next[depth] === undefined) {
      // Its children have nowhere to stand either.
      next.length = Math.min(next.length, depth + 1);
      continue;
    }
    const left = next[depth]!;
    // Children that add up to more than their parent (work side by side) are cut at its end.
    const width = Math.min(value / total, Math.max(end[depth]! - left, 0));
    boxes.push({row: i, depth, left, width});
    next[depth] = left + width;
    next.length = depth + 2;
    end.length = depth + 2;
    next[depth + 1] = left;
    end[depth + 1] = left + width;
  }
  return boxes;
}

// The same boxes when one of them fills the width: it, what is in it, and its parents.
export function zoomedBoxes(boxes: readonly Box[], to: Box): Box[] {
  const found: Box[] = [];
  for (const box of boxes) {
    const right = box.left + box.width;
    if (box.depth < to.depth) {
      if (box.left <= to.left + 1e-12 && right >= to.left + to.width - 1e-12) {
        found.push({...box, left: 0, width: 1});
      }
    } else if (box.left >= to.left - 1e-12 && right <= to.left + to.width + 1e-12) {
      found.push({...box, left: (box.left - to.left) / to.width, width: box.width / to.width});
    }
  }
  return found;
}
