import {describe, expect, it} from 'vitest';
import {Motion} from './motion';

describe('motion', () => {
  it('arrives exactly and then rests', () => {
    const motion = new Motion(1e9);
    motion.show({from: 1000, to: 5000});
    let frames = 0;
    while (motion.advance(16)) ++frames;
    expect(motion.view).toEqual({from: 1000, to: 5000});
    expect(frames).toBeGreaterThan(3);
    expect(frames).toBeLessThan(60);
  });
  it('never leaves the way between where it is and where it goes', () => {
    const motion = new Motion(1e9);
    motion.show({from: 4e8, to: 5e8});
    let last = motion.view.from;
    while (motion.advance(16)) {
      expect(motion.view.from).toBeGreaterThanOrEqual(last);
      expect(motion.view.from).toBeLessThanOrEqual(4e8);
      last = motion.view.from;
    }
  });
  it('zooms step by step around one place, also while it moves', () => {
    const motion = new Motion(1e9);
    const under = () => motion.target.from + 0.3 * (motion.target.to - motion.target.from);
    const place = under();
    for (let i = 0; i < 20; ++i) {
      motion.zoom(0.8, 0.3);
      motion.advance(16);
    }
    expect(under()).toBeCloseTo(place, 0);
  });
  it('pans by a share of what is seen', () => {
    const motion = new Motion(1e9);
    motion.jump({from: 1e8, to: 2e8});
    motion.pan(0.5);
    expect(motion.target.from).toBeCloseTo(1.5e8, 0);
  });
});
