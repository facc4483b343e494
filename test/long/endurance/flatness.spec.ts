import { coursesOf } from './flatness';
import type { Sample } from './subject/sample';

const CALM: Sample = {
  heapBytes: 30e6,
  residentBytes: 120e6,
  descriptors: 40,
  handles: 12,
  timers: 9,
  emitters: 100,
  listeners: 300,
  promises: 20,
  children: 1,
  childDescriptors: 30,
  childResidentBytes: 60e6,
};
const FIGURES = Object.keys(CALM) as (keyof Sample)[];

describe('the course of what a process holds', () => {
  it('is flat when it moves up and down', () => {
    const samples = Array.from({ length: 12 }, (_, n) => ({
      ...CALM,
      handles: 12 + (n % 3),
      heapBytes: 30e6 + (n % 4) * 2e5,
    }));
    expect(coursesOf('server', samples).filter(({ flat }) => !flat)).toStrictEqual([]);
  });

  it.each(FIGURES)('is not when %s grows, and that alone', (figure) => {
    const samples = Array.from({ length: 12 }, (_, n) => ({ ...CALM, [figure]: CALM[figure] * (1 + n / 10) + 5 * n }));
    const growing = coursesOf('server', samples).filter(({ flat }) => !flat);
    expect(growing.map((course) => course.figure)).toEqual([figure]);
  });

  it('needs a look at the begin, in the middle and at the end', () => {
    expect(() => coursesOf('server', [CALM, CALM])).toThrow('too short');
  });
});
