import type { SegmentIdGenerator } from '@leaf-ids/core/internal';

/** Maximum number of tags with their own label. */
export const LABELLED_TAGS = 1000;
/** The label that the other tags share. A tag of this name is one of them. */
export const OTHER_TAGS = '_other';

/** The figures of one tag. */
export interface TagFigures {
  readonly tag: string;
  /** Never decreases, even if the tag is removed and created again. */
  readonly issued: number;
  /** Undefined while the tag is unknown to this process. */
  readonly stock: TagStock | undefined;
}

interface TagStock {
  readonly buffered: number;
  readonly step: number;
  /**
   * At the rate of the last minute; undefined if that is 0 or not measured, and for a strict tag, which has no buffer.
   */
  readonly lastsSeconds: number | undefined;
}

/** A consistent reading of all tags. */
export interface TagsReading {
  /** The tags with a label. */
  readonly figures: readonly TagFigures[];
  /** IDs of all tags without a label, and IDs that a tag issued between its last reading and its removal. */
  readonly otherIssued: number;
}

class Series {
  stock: TagStock | undefined;
  /** IDs of the earlier buffers of a tag that was removed and created again. */
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
 * The figures of the tags, with a bounded number of labels. A tag that has issued an ID gets one of the free labels and
 * keeps it permanently. All other tags share one label.
 */
export class TagSeries {
  private readonly labelled = new Map<string, Series>();

  /** @param rateOf IDs per second of a tag; by default not measured */
  constructor(
    private readonly segments: SegmentIdGenerator,
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
