import type { SegmentIdGenerator, TagVisit } from '@leaf-ids/core/internal';
import { LABELLED_TAGS, OTHER_TAGS, TagSeries, type TagsReading } from './tag-series';

/** The source of {@link TagSeries}: the issued IDs of each tag, and of removed tags. */
class Tags {
  readonly current = new Map<string, number>();
  gone = 0;

  countIssued(onUsed?: (tag: string) => void): number {
    for (const [tag, issued] of this.current) if (issued > 0) onUsed?.(tag);
    return [...this.current.values()].reduce((sum, issued) => sum + issued, this.gone);
  }

  visitOne(tag: string, visit: TagVisit): void {
    const issued = this.current.get(tag);
    if (issued !== undefined) visit(tag, issued, 7, 100);
  }

  get tagCount(): number {
    return this.current.size;
  }

  isStrict(tag: string): boolean {
    return tag === 'strict';
  }

  remove(tag: string): void {
    this.gone += this.current.get(tag) ?? 0;
    this.current.delete(tag);
  }
}

describe('TagSeries', () => {
  let tags: Tags;
  let series: TagSeries;
  let reading: TagsReading;
  let rate: number;
  beforeEach(() => {
    tags = new Tags();
    rate = 0;
    series = new TagSeries(tags as unknown as SegmentIdGenerator, () => rate);
  });

  function issued(): Record<string, number> {
    reading = series.read();
    const own = reading.figures.map((each): [string, number] => [each.tag, each.issued]);
    return Object.fromEntries([...own, [OTHER_TAGS, reading.otherIssued]]);
  }

  it('labels the tags in use', () => {
    tags.current.set('order', 5).set('idle', 0);
    expect(issued()).toEqual({ order: 5, [OTHER_TAGS]: 0 });
    expect(reading.figures).toEqual([
      { tag: 'order', issued: 5, stock: { buffered: 7, step: 100, lastsSeconds: undefined } },
    ]);
  });

  it('reports how long the buffered IDs last, for a tag in use that is not strict', () => {
    tags.current.set('order', 5).set('strict', 5);
    rate = 2;
    expect(series.read().figures.map(({ stock }) => stock?.lastsSeconds)).toEqual([3.5, undefined]);
  });

  it('continues the counter of a tag that is removed and created again', () => {
    tags.current.set('order', 5);
    issued();
    tags.current.set('order', 6);
    tags.remove('order');
    expect(issued()).toEqual({ order: 5, [OTHER_TAGS]: 1 });
    expect(reading.figures).toMatchObject([{ stock: undefined }]);
    tags.current.set('order', 0);
    expect(issued()).toEqual({ order: 5, [OTHER_TAGS]: 1 });
    tags.current.set('order', 3);
    expect(issued()).toEqual({ order: 8, [OTHER_TAGS]: 1 });
  });

  it('keeps the assigned labels when more tags are added', () => {
    for (let i = 0; i < LABELLED_TAGS + 100; i++) tags.current.set(`tag-${i}`, 1);
    const before = issued();
    expect(Object.keys(before)).toHaveLength(LABELLED_TAGS + 1);
    expect(before[OTHER_TAGS]).toBe(100);
    tags.remove('tag-0');
    tags.current.set('late', 4);
    expect(issued()).toEqual({ ...before, [OTHER_TAGS]: 104 });
  });

  it('assigns no label to a tag with the name of the common label', () => {
    tags.current.set(OTHER_TAGS, 5);
    expect(issued()).toEqual({ [OTHER_TAGS]: 5 });
  });
});
