import { TagReads } from './tag-reads';

/** Reads that end when the test says so. */
class Reads {
  readonly begun: string[] = [];
  private readonly open: (() => void)[] = [];

  read(key: string): () => Promise<string> {
    return async () => {
      this.begun.push(key);
      await new Promise<void>((resolve) => this.open.push(resolve));
      return key;
    };
  }

  async endFirst(): Promise<void> {
    this.open.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('TagReads', () => {
  let reads: Reads;
  beforeEach(() => (reads = new Reads()));

  it('runs two at a time, the others in the order in which they came', async () => {
    const limit = new TagReads(8);
    const results = Promise.all(['a', 'b', 'c', 'd'].map((key) => limit.run(key, reads.read(key))));
    expect(reads.begun).toEqual(['a', 'b']);
    await reads.endFirst();
    expect(reads.begun).toEqual(['a', 'b', 'c']);
    for (let n = 0; n < 3; n++) await reads.endFirst();
    expect(await results).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
  ])('of a pool of %d uses at most %d', (connections, width) => {
    const limit = new TagReads(connections);
    for (const key of ['a', 'b', 'c']) void limit.run(key, reads.read(key));
    expect(reads.begun).toHaveLength(width);
  });

  it('shares a read that waits, and never one that was sent before the call', async () => {
    const limit = new TagReads(2);
    const first = limit.run('a', reads.read('a'));
    const shared = [limit.run('a', reads.read('a')), limit.run('a', reads.read('a'))];
    expect(reads.begun).toEqual(['a']);
    await reads.endFirst();
    expect(reads.begun).toEqual(['a', 'a']);
    const later = limit.run('a', reads.read('a'));
    await reads.endFirst();
    expect(reads.begun).toEqual(['a', 'a', 'a']);
    await reads.endFirst();
    expect(await Promise.all([first, ...shared, later])).toEqual(['a', 'a', 'a', 'a']);
  });

  it('refuses when too many wait, and goes on after reads that fail', async () => {
    const limit = new TagReads(2);
    const fail = (): Promise<never> => Promise.reject(new Error('away'));
    const running = limit.run('a', reads.read('a'));
    const waiting = Array.from({ length: 100 }, (_, n) => limit.run(`b${n}`, fail));
    const settled = Promise.allSettled(waiting);
    await expect(limit.run('c', fail)).rejects.toMatchObject({
      code: 'LEAF_OVERLOADED',
      message: 'Too many reads of tags wait for the database. Try again later.',
      retryAfterMs: 1000,
    });
    await reads.endFirst();
    expect(await running).toBe('a');
    expect((await settled).map((each) => each.status)).toEqual(Array(100).fill('rejected'));
    const next = limit.run('d', reads.read('d'));
    const later = limit.run('e', reads.read('e'));
    for (let n = 0; n < 2; n++) await reads.endFirst();
    expect(await Promise.all([next, later])).toEqual(['d', 'e']);
  });
});
