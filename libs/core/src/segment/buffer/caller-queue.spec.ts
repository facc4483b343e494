import { LeafError } from '../../errors/leaf-error';
import { FakeClock } from '../../testing';
import { CallerQueue } from './caller-queue';

it('refuses each caller at its own deadline, also when a batch is formed again behind a newer one', async () => {
  const clock = new FakeClock();
  const late = (): LeafError => new LeafError('LEAF_SEGMENT_UNAVAILABLE', 'late');
  const queue = new CallerQueue(clock, { waitMs: 1000, batchSize: 1000, late });
  const begunAt = clock.monotonic();
  const refusedAt: number[] = [];
  const call = (): void => void queue.wait(1).catch(() => refusedAt.push(clock.monotonic() - begunAt));
  call();
  await clock.advance(10);
  call();
  const failed = queue.next();
  await clock.advance(690);
  call();
  queue.next();
  queue.putBack(failed);
  queue.next();
  await clock.advance(2000);
  expect(refusedAt).toEqual([1000, 1010, 1700]);
});

it('keeps the order of the callers, and their deadlines, when two batches are cancelled one after the other', async () => {
  const clock = new FakeClock();
  const late = (): LeafError => new LeafError('LEAF_SEGMENT_UNAVAILABLE', 'late');
  const queue = new CallerQueue(clock, { waitMs: 1000, batchSize: 2, late });
  const begunAt = clock.monotonic();
  const refusedAt: number[] = [];
  const call = (count: number): void => void queue.wait(count).catch(() => refusedAt.push(clock.monotonic() - begunAt));
  call(1);
  const older = queue.next();
  await clock.advance(300);
  call(2);
  const newer = queue.next();
  queue.putBack(older);
  queue.putBack(newer);
  const again = queue.next();
  expect(again.size).toBe(1);
  queue.putBack(again);
  await clock.advance(2000);
  expect(refusedAt).toEqual([1000, 1300]);
});

it('gives a batch of its own to each caller of a divided batch, and to no other one', () => {
  const late = (): LeafError => new LeafError('LEAF_SEGMENT_UNAVAILABLE', 'late');
  const queue = new CallerQueue(new FakeClock(), { waitMs: 1000, batchSize: 1000, late });
  const call = (count: number): void => void queue.wait(count).catch(() => undefined);
  for (const count of [5, 1]) call(count);
  const batch = queue.next();
  for (const count of [2, 3, 4]) call(count);
  expect(queue.divide(batch)).toBe(true);
  expect([queue.next(), queue.next(), queue.next()].map(({ size }) => size)).toEqual([5, 1, 9]);
  queue.close(late);
});
