import { LeafError } from '../../errors/leaf-error';
import { Segment } from './segment';
import { type TagSource, UsedSources, view } from './tag-source';

const failure = new LeafError('LEAF_STORE_UNAVAILABLE', 'Down.');

/** A source that has issued and buffers this many IDs. */
function source(tag: string, issued = 0, buffered = 0): TagSource & { issued: number } {
  return { tag, issued, buffered, retire: () => Promise.resolve([{ from: 1n, to: 2n }]) } as never;
}

describe('UsedSources, of tags that fail', () => {
  it('names the one that failed first, and their number, for a minute after their latest failure', () => {
    const used = new UsedSources();
    expect(used.failing(0)).toBeUndefined();
    const [one, two] = [source('one'), source('two')];
    used.note(one, failure, 0);
    used.note(two, failure, 1000);
    expect(used.failing(59_999)).toEqual({ tag: 'one', count: 2, error: failure });
    expect(used.failing(60_000)).toEqual({ tag: 'two', count: 1, error: failure });
    used.note(two, failure, 60_000);
    expect(used.failing(119_999)).toMatchObject({ tag: 'two' });
    expect(used.failing(120_000)).toBeUndefined();
  });

  it('names none that has succeeded since, has IDs, or was ended', async () => {
    const used = new UsedSources();
    const [again, stocked, ended] = [source('again'), source('stocked', 0, 1), source('ended')];
    for (const each of [again, stocked, ended]) used.note(each, failure, 0);
    used.note(again, undefined, 1);
    await used.retire(ended, () => failure);
    expect(used.failing(2)).toBeUndefined();
  });

  it.each([
    ['LEAF_TAG_EXHAUSTED', false],
    ['LEAF_TAG_NOT_FOUND', false],
    ['LEAF_SIZE_INVALID', false],
    ['LEAF_TAG_ROW_INVALID', true],
    ['LEAF_STORE_BACKWARDS', true],
  ] as const)('after %s: %p', (code, fails) => {
    const used = new UsedSources();
    used.note(source('order'), new LeafError(code, 'No.'), 0);
    expect(used.failing(1) !== undefined).toBe(fails);
  });
});

describe('UsedSources, of IDs issued', () => {
  it('counts those of sources that have ended, once', async () => {
    const used = new UsedSources();
    const [one, two, unused] = [source('one', 5), source('two', 7), source('unused')];
    for (const each of [one, two, unused, one]) used.add(each);
    const seen: string[] = [];
    expect(used.countIssued(({ tag }) => seen.push(tag))).toBe(12);
    expect(seen).toEqual(['one', 'two']);
    expect(await used.retire(one, () => failure)).toEqual([{ from: 1n, to: 2n }]);
    await used.retire(one, () => failure);
    two.issued++;
    expect([used.countIssued((each) => seen.push(each.tag)), used.countIssued()]).toEqual([13, 13]);
    expect(seen).toEqual(['one', 'two', 'two']);
  });

  it('does not count a source that was never used', async () => {
    const used = new UsedSources();
    await used.retire(source('strange', 3), () => failure);
    expect(used.countIssued()).toBe(0);
  });
});

it('the snapshot of a segment has its range and the next ID', () => {
  const segment = new Segment({ from: 11n, to: 20n });
  segment.takeRange(3);
  expect(view(segment)).toEqual({ from: 11n, to: 20n, position: 14n });
});
