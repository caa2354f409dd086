// The view on its way to where it should be: changes set the target, and each frame comes a good
// part nearer, so that zooming is followed by the eye.
import {clampView, panned, type View, zoomed} from './scale';

const FOLLOWS_MS = 45; // in which two thirds of the way are made
const NEAR = 0.0005; // of the width: there

export class Motion {
  view: View;
  target: View;

  constructor(private readonly length: number) {
    this.view = clampView({from: 0, to: length}, length);
    this.target = this.view;
  }

  show(view: View): void {
    this.target = clampView(view, this.length);
  }
  jump(view: View): void {
    this.show(view);
    this.view = this.target;
  }
  // `share` of the width is where the time stays in place.
  zoom(factor: number, share: number): void {
    const {from, to} = this.target;
    this.target = zoomed(this.target, factor, from + share * (to - from), this.length);
  }
  // By a share of the width.
  pan(share: number): void {
    this.target = panned(this.target, share * (this.target.to - this.target.from), this.length);
  }

  // Whether anything moved.
  advance(ms: number): boolean {
    if (this.view === this.target) return false;
    const share = 1 - Math.exp(-ms / FOLLOWS_MS);
    const from = this.view.from + (this.target.from - this.view.from) * share;
    const to = this.view.to + (this.target.to - this.view.to) * share;
    const left = (Math.abs(this.target.from - from) + Math.abs(this.target.to - to)) / (to - from);
    this.view = left < NEAR ? this.target : {from, to};
    return true;
  }
}
