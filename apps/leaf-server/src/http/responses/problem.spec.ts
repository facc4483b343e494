import { FakeClock } from '@leaf-ids/core/testing';
import { LeafError } from '@leaf-ids/core';
import { LastFailure } from './problem';

it('LastFailure keeps failures of the server, not wrong requests or refusals because of overload', () => {
  const clock = new FakeClock();
  const failures = new LastFailure(clock);
  failures.note(new LeafError('LEAF_STORE_UNAVAILABLE', 'The database is down.'));
  const expected = { at: clock.now(), code: 'LEAF_STORE_UNAVAILABLE', message: 'The database is down.' };
  clock.step(1);
  failures.note(new LeafError('LEAF_OVERLOADED', 'Too many.'));
  failures.note(new LeafError('LEAF_TAG_NOT_FOUND', 'No such tag.'));
  expect(failures.latest).toEqual(expected);
});
