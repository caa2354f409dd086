// @vitest-environment happy-dom
import {describe, expect, it} from 'vitest';
import {href, parseRoute} from './route';

describe('addresses', () => {
  it('what is written is read again', () => {
    const address = href('ask/memory-peak', {top: 20, filter: 'a&b = c', none: null});
    expect(parseRoute(address)).toEqual({
      path: 'ask/memory-peak',
      params: {top: '20', filter: 'a&b = c'},
    });
  });
  it('what cannot have been written is no page, and no trouble', () =>
    expect(parseRoute('#/100%')).toEqual({path: '100%', params: {}}));
  it.each(['', '#', '#/', '/'])('%j is the overview', (hash) =>
    expect(parseRoute(hash)).toEqual({path: '', params: {}}),
  );
});
