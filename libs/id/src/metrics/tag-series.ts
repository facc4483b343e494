import type { SegmentService } from '@leaf-ids/segment';

/** So many tags have a label of their own. */
export const LABELLED_TAGS = 1000;
/** The label that the other tags share. A tag of this name is one of them. */
export const OTHER_TAGS = '_other';

/** What is told of one tag. */
export interface TagFigures {
  readonly tag: string;
  /** Never falls, though the tag is removed and made anew. */
  readonly issued: number;
  /** Undefined while the tag is not known here. */
  readonly stock: TagStock | undefined;
}

interface TagStock {
  readonly buffered: number;
  readonly step: number;
  /** At the rate of the last minute; undefined where that is 0 or not measured, and of a strict tag: it never has any at hand. */
  readonly lastsSeconds: number | undefined;
}

/** All tags, at one moment. */
export interface TagsReading {
  /** Of the tags with a label. */
  readonly figures: readonly TagFigures[];
  /** IDs of all tags without a label, and those issued between the last reading of a tag and its removal. */
  readonly otherIssued: number;
}

class Series {
  stock: TagStock | undefined;
  /** IDs of buffers before the one that is counted now: of tags that were removed and made anew. */
  private before = 0;
  private current = 0;

  get issued(): number {
    return this.before + this.current;
  }

  see(issued: number, stock: TagStock): void {
    if (issued < this.current) this.before += this.current;
    this.current = issued;
    this.stock = stock;
  }
}

/**
 * The figures of the tags, for a bounded number of labels: a tag that is seen with an ID issued takes one of those that
 * are left, and keeps it for good. All others are one.
 */
export class TagSeries {
  private readonly labelled = new Map<string, Series>();

  /** @param rateOf IDs per second of a tag; left out: not measured */
  constructor(
    private readonly segments: SegmentService,
    private readonly rateOf: (tag: string) => number = () => 0,
  ) {}

  /** Reads all tags at one moment: a tag that got its label later than the total was read would make `_other` fall. */
  read(): TagsReading {
    const onUsed = this.labelled.size < LABELLED_TAGS ? (tag: string): void => this.label(tag) : undefined;
    let otherIssued = this.segments.countIssued(onUsed);
    const figures = [...this.labelled].map(([tag, series]): TagFigures => {
      this.look(tag, series);
      const { issued, stock } = series;
      otherIssued -= issued;
      return { tag, issued, stock };
    });
    return { figures, otherIssued };
  }

  private look(tag: string, series: Series): void {
    series.stock = undefined;
    this.segments.visitOne(tag, (_, issued, buffered, step) => {
      const rate = this.segments.isStrict(tag) ? 0 : this.rateOf(tag);
      series.see(issued, { buffered, step, lastsSeconds: rate === 0 ? undefined : buffered / rate });
    });
  }

  private label(tag: string): void {
    if (this.labelled.size >= LABELLED_TAGS || tag === OTHER_TAGS || this.labelled.has(tag)) return;
    this.labelled.set(tag, new Series());
  }
}
