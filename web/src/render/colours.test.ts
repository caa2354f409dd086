import {expect, it} from 'vitest';
import {CAUSE_TEXT, causeVariable} from './colours';

it('every cause for which a device waits has a colour of its own', () => {
  const causes = Object.keys(CAUSE_TEXT);
  expect(new Set(causes.map(causeVariable)).size).toBe(causes.length);
});
