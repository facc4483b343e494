import { LeafError, messageOf } from '../../errors/leaf-error';
import { FakeClock } from '../../clock/fake-clock';
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

describe('CallerQueue', () => {
  let clock: FakeClock;
  let queue: CallerQueue;
  /** What each call got, in the order in which they were answered: its range, or the error. */
  let answers: string[];

  const refusal = (message: string): LeafError => new LeafError('LEAF_SEGMENT_UNAVAILABLE', message);

  beforeEach(() => {
    clock = new FakeClock();
    queue = new CallerQueue(clock, { waitMs: 1000, batchSize: 10, late: () => refusal('late') });
    answers = [];
  });

  function call(name: string, count: number, since?: number): void {
    const note = (answer: string): void => void answers.push(`${name}: ${answer}`);
    queue.wait(count, since).then(
      ({ from, to }) => note(`${from} to ${to}`),
      (error: unknown) => note(messageOf(error)),
    );
  }

  const figures = (): unknown[] => [queue.occupied, queue.length, clock.sleeping];

  it('serves the callers of a batch in their order, each with its own IDs', async () => {
    expect(figures()).toEqual([false, 0, 0]);
    call('a', 3);
    call('b', 1);
    expect(figures()).toEqual([true, 2, 1]);
    const batch = queue.next();
    expect([batch.size, ...figures()]).toEqual([4, false, 2, 1]);
    call('c', 2);
    expect(figures()).toEqual([true, 3, 1]);
    expect(queue.serve(batch, { from: 11n, to: 14n })).toBe(4);
    expect(figures()).toEqual([true, 1, 1]);
    expect(queue.serve(queue.next(), { from: 21n, to: 22n })).toBe(2);
    await clock.advance(0);
    expect(answers).toEqual(['a: 11 to 13', 'b: 14 to 14', 'c: 21 to 22']);
    expect(figures()).toEqual([false, 0, 0]);
  });

  it('forms batches of at most their size, and a larger one only for a single caller', () => {
    for (const [index, count] of [4, 6, 1, 11, 10, 5, 6].entries()) call(`${index}`, count);
    const batches = Array.from({ length: 5 }, () => queue.next());
    expect(batches.map(({ size }) => size)).toEqual([10, 1, 11, 10, 5]);
    expect([queue.next().size, queue.next().size]).toEqual([6, 0]);
  });

  it('leaves a gap for a caller that was refused at its deadline', async () => {
    call('a', 2, clock.monotonic() - 10);
    call('b', 1);
    const batch = queue.next();
    await clock.advance(989);
    expect(answers).toStrictEqual([]);
    await clock.advance(1);
    expect(answers).toEqual(['a: late']);
    expect([queue.serve(batch, { from: 5n, to: 7n }), clock.sleeping]).toEqual([1, 0]);
    await clock.advance(5000);
    expect(answers).toEqual(['a: late', 'b: 7 to 7']);
  });

  it('refuses callers at their deadlines that are in no batch yet, and keeps the others', async () => {
    call('a', 1);
    await clock.advance(500);
    call('b', 1);
    await clock.advance(500);
    expect([answers, ...figures()]).toEqual([['a: late'], true, 1, 1]);
    await clock.advance(500);
    expect([answers, ...figures()]).toEqual([['a: late', 'b: late'], false, 0, 0]);
    call('c', 1);
    await clock.advance(1000);
    expect(answers.at(-1)).toBe('c: late');
  });

  it('refuses all callers of a batch, once', async () => {
    call('a', 1, clock.monotonic() - 1);
    call('b', 1);
    const batch = queue.next();
    await clock.advance(999);
    queue.refuse(batch, refusal('refused'));
    await clock.advance(1000);
    expect([answers, ...figures()]).toEqual([['a: late', 'b: refused'], false, 0, 0]);
  });

  it('puts back only the callers that still wait, before those that came later', async () => {
    call('a', 1, clock.monotonic() - 1);
    call('b', 2);
    const batch = queue.next();
    call('c', 3);
    await clock.advance(999);
    queue.putBack(batch);
    expect(queue.length).toBe(2);
    const again = queue.next();
    queue.serve(again, { from: 1n, to: 5n });
    await clock.advance(0);
    expect([again.size, answers]).toEqual([5, ['a: late', 'b: 1 to 2', 'c: 3 to 5']]);
  });

  it('refuses callers in several batches at their own deadlines, also when another batch is served', async () => {
    for (const [index, waitedMs] of [300, 200, 100, 0].entries()) {
      call(`${index}`, 1, clock.monotonic() - waitedMs);
      if (index > 0) queue.next();
      else queue.serve(queue.next(), { from: 1n, to: 1n });
    }
    await clock.advance(799);
    expect(answers).toEqual(['0: 1 to 1']);
    for (const [index, ms] of [1, 100, 100].entries()) {
      await clock.advance(ms);
      expect(answers.at(-1)).toBe(`${index + 1}: late`);
      expect(answers).toHaveLength(index + 2);
    }
  });

  it('keeps the deadline of a batch when a later one is served', async () => {
    call('a', 1);
    queue.next();
    call('b', 1);
    queue.serve(queue.next(), { from: 2n, to: 2n });
    await clock.advance(1000);
    expect(answers).toEqual(['b: 2 to 2', 'a: late']);
  });

  it('does not divide a batch of one caller', async () => {
    call('a', 3);
    const batch = queue.next();
    expect([queue.divide(batch), queue.length, queue.occupied]).toEqual([false, 1, false]);
    queue.serve(batch, { from: 1n, to: 3n });
    await clock.advance(0);
    expect(answers).toEqual(['a: 1 to 3']);
  });

  it('forms a batch alone for a caller of a divided one behind others', () => {
    call('a', 1);
    call('b', 1);
    const divided = queue.next();
    call('c', 1);
    queue.divide(divided);
    const alone = [queue.next(), queue.next()];
    call('d', 1);
    for (const batch of alone) queue.putBack(batch);
    expect([queue.next(), queue.next(), queue.next()].map(({ size }) => size)).toEqual([1, 1, 2]);
  });

  it('refuses all callers when it is closed, and stops its timer', async () => {
    call('a', 1);
    const batch = queue.next();
    call('b', 1);
    queue.close(() => refusal('closed'));
    expect([queue.occupied, clock.sleeping]).toEqual([false, 0]);
    expect(queue.serve(batch, { from: 1n, to: 1n })).toBe(0);
    await clock.advance(5000);
    expect([answers, queue.length]).toEqual([['a: closed', 'b: closed'], 0]);
  });
});
