import {describe, expect, it, vi} from 'vitest';
import {ServerError} from '../api/http';
import {askAgain, Kept, settled} from './loaded';

// Fails with these codes one after the other, and then gives the number of the call.
function fetching(...codes: string[]) {
  const state = {calls: 0};
  const fetch = async () => {
    const code = codes[state.calls++];
    if (code !== undefined) throw new ServerError(code, `it says ${code}`);
    return state.calls;
  };
  return {state, fetch};
}

describe('what could not be fetched', () => {
  it('is not asked for again by being looked at', async () => {
    const {state, fetch} = fetching('failed', 'failed');
    const kept = new Kept<number>();
    const first = await settled(kept.get('a', fetch));
    expect(first).toMatchObject({state: 'failed', message: 'it says failed'});
    for (let i = 0; i < 5; ++i) expect(kept.get('a', fetch).value).toBe(first);
    expect(state.calls).toBe(1);
  });
  it('is asked for again by whoever wants that', async () => {
    const {fetch} = fetching('failed');
    const kept = new Kept<number>();
    const failed = await settled(kept.get('a', fetch));
    if (failed.state === 'failed') failed.again?.();
    expect(kept.get('a', fetch).value).toEqual({state: 'loading'});
    expect(await settled(kept.get('a', fetch))).toEqual({state: 'ready', value: 2});
  });
  it.each(['bad_request', 'not_found', 'unauthorized'])(
    'stays so where the question was wrong: %s',
    async (code) =>
      expect(await settled(new Kept().get('a', fetching(code).fetch))).toEqual({
        state: 'failed',
        message: `it says ${code}`,
      }),
  );
  it('comes once the server is there again, and only what it had not answered', async () => {
    const [lost, refused] = [fetching('unreachable', 'unreachable'), fetching('failed')];
    const kept = new Kept<number>();
    await settled(kept.get('lost', lost.fetch));
    await settled(kept.get('refused', refused.fetch));
    for (const calls of [2, 3, 3]) {
      askAgain();
      await settled(kept.get('lost', lost.fetch));
      expect([lost.state.calls, refused.state.calls]).toEqual([calls, 1]);
    }
    expect(kept.get('lost', lost.fetch).value).toEqual({state: 'ready', value: 3});
  });
  it('comes by itself where the run is read first, and is no failure meanwhile', async () => {
    const {state, fetch} = fetching('loading');
    const kept = new Kept<number>();
    kept.get('a', fetch);
    await new Promise((done) => setTimeout(done));
    expect(kept.get('a', fetch).value).toEqual({state: 'loading'});
    expect(state.calls).toBe(1);
    askAgain();
    expect(await settled(kept.get('a', fetch))).toEqual({state: 'ready', value: 2});
  });
  it('comes by itself where the server has too much to do', async () => {
    vi.useFakeTimers();
    const {fetch} = fetching('busy', 'busy');
    const kept = new Kept<number>();
    kept.get('a', fetch);
    await vi.advanceTimersByTimeAsync(1900);
    expect(kept.get('a', fetch).value).toEqual({state: 'loading'});
    await vi.advanceTimersByTimeAsync(200);
    expect(kept.get('a', fetch).value).toEqual({state: 'ready', value: 3});
    vi.useRealTimers();
  });
});
