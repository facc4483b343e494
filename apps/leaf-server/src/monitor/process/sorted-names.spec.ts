import { FakeClock } from '@leaf-ids/core/testing';
import fc from 'fast-check';
import { TimeSlice } from '../sampling/time-slice';
import { sortInSlices } from './sorted-names';

it('sortInSlices sorts as an array does', async () => {
  const name = fc.string({ maxLength: 3 });
  const slice = new TimeSlice(new FakeClock());
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 20 }), fc.integer({ min: 0, max: 300 }), async (some, times) => {
      const names = Array.from({ length: times }, (_, n) => some.map((each) => `${each}${(n * 37) % 101}`)).flat();
      expect(await sortInSlices(names, slice)).toEqual([...names].sort());
    }),
    { numRuns: 50 },
  );
});
