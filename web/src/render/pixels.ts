// A frame as numbers, a pixel each: tens of thousands of thin rectangles cost a canvas milliseconds,
// memory hardly anything. Rectangles of one row arrive together; they are mixed into one line, which
// is then copied to all lines of the row. Edges between pixels are mixed by what they cover.

// A colour as it stands in memory on every machine that browsers run on: little-endian RGBA.
export function packed(colour: string): number {
  const [r = 0, g = 0, b = 0] = (colour.match(/\d+/g) ?? []).map(Number);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function mixed(below: number, above: number, share: number): number {
  const part = Math.round(share * 256);
  const rest = 256 - part;
  // Red and blue in one go, they are far enough apart.
  const rb = (((below & 0xff00ff) * rest + (above & 0xff00ff) * part) >>> 8) & 0xff00ff;
  const g = (((below & 0xff00) * rest + (above & 0xff00) * part) >>> 8) & 0xff00;
  return (0xff000000 | rb | g) >>> 0;
}

export class Pixels {
  width = 0;
  height = 0;
  ratio = 1; // device pixels of a CSS pixel
  data = new Uint32Array(0);
  bytes = new Uint8ClampedArray(0);
  private line = new Uint32Array(0);
  private top = -1;
  private bottom = -1;
  private left = 0; // what of the line was touched
  private right = 0;

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.width = Math.max(1, Math.round(width * ratio));
    this.height = Math.max(1, Math.round(height * ratio));
    const buffer = new ArrayBuffer(4 * this.width * this.height);
    this.data = new Uint32Array(buffer);
    this.bytes = new Uint8ClampedArray(buffer);
    this.line = new Uint32Array(this.width);
  }

  clear(colour: number): void {
    this.top = -1;
    this.bottom = -1;
    this.data.fill(colour);
  }

  // In CSS pixels.
  rect(colour: number, x: number, y: number, width: number, height: number): void {
    const top = Math.max(Math.round(y * this.ratio), 0);
    const bottom = Math.min(Math.round((y + height) * this.ratio), this.height);
    if (bottom <= top) return;
    if (top !== this.top || bottom !== this.bottom) this.startRow(top, bottom);
    const begin = Math.max(x * this.ratio, 0);
    const end = Math.min((x + width) * this.ratio, this.width);
    if (!(end > begin)) return;
    const first = Math.floor(begin);
    const last = Math.min(Math.ceil(end), this.width);
    this.left = Math.min(this.left, first);
    this.right = Math.max(this.right, last);
    const {line} = this;
    if (last - first === 1) {
      line[first] = mixed(line[first]!, colour, end - begin);
      return;
    }
    line[first] = mixed(line[first]!, colour, first + 1 - begin);
    line[last - 1] = mixed(line[last - 1]!, colour, end - (last - 1));
    if (last - first > 2) line.fill(colour, first + 1, last - 1);
  }

  // The same on whole pixels and at once: for what has no row, such as the columns of a counter.
  block(colour: number, x: number, y: number, width: number, height: number): void {
    this.finish();
    this.top = -1;
    const top = Math.max(Math.round(y * this.ratio), 0);
    const bottom = Math.min(Math.max(Math.round((y + height) * this.ratio), top + 1), this.height);
    const first = Math.max(Math.floor(x * this.ratio), 0);
    const last = Math.min(Math.ceil((x + width) * this.ratio), this.width);
    if (!(last > first) || height <= 0) return;
    const {data} = this;
    if (last - first < 8) {
      for (let at = top * this.width; at < bottom * this.width; at += this.width) {
        for (let i = first; i < last; ++i) data[at + i] = colour;
      }
      return;
    }
    for (let line = top; line < bottom; ++line) {
      data.fill(colour, line * this.width + first, line * this.width + last);
    }
  }

  private startRow(top: number, bottom: number): void {
    this.finish();
    this.top = top;
    this.bottom = bottom;
    this.line.set(this.data.subarray(top * this.width, (top + 1) * this.width));
    this.left = this.width;
    this.right = 0;
  }

  // The row at hand goes to its lines. To be called before the pixels are used.
  finish(): void {
    if (this.top < 0 || this.right <= this.left) return;
    const touched = this.line.subarray(this.left, this.right);
    for (let y = this.top; y < this.bottom; ++y) {
      this.data.set(touched, y * this.width + this.left);
    }
    this.left = this.width;
    this.right = 0;
  }
}
