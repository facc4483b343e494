import type { SegmentService } from '@leaf/segment';

/** So many tags have a label of their own. */
export const LABELLED_TAGS = 1000;
/** The label that the other tags share. A tag of this name is one of them. */
export const OTHER_TAGS = '_other';

/** What is said of one tag. */
export interface TagFigures {
  readonly tag: string;
  /** Never falls, though the tag is removed and made anew. */
  readonly issued: number;
  /** Undefined while the tag is not known here. */
  readonly stock: { readonly buffered: number; readonly step: number } | undefined;
}

class Series implements TagFigures {
  stock: TagFigures['stock'];
  /** IDs of buffers before the one that is counted now: of tags that were removed and made anew. */
  private before = 0;
  private current = 0;

  constructor(readonly tag: string) {}

  get issued(): number {
    return this.before + this.current;
  }

  see(issued: number, buffered: number, step: number): void {
    if (issued < this.current) this.before += this.current;
    this.current = issued;
    this.stock = { buffered, step };
  }
}

/**
 * The figures of the tags, for a bounded number of labels: a tag that is seen with an ID issued takes one of those that
 * are left, and keeps it for good. All others are one.
 */
export class TagSeries {
  /** Tags known at the last look. */
  known = 0;
  /** IDs of all tags without a label, and those issued between the last look at a tag and its removal. */
  otherIssued = 0;
  private readonly labelled = new Map<string, Series>();

  constructor(private readonly segments: SegmentService) {}

  /** Looks at the tags, without a pause: with all labels given, only at those that have one. */
  look(): void {
    this.known = this.segments.tagCount;
    if (this.labelled.size < LABELLED_TAGS) {
      this.segments.visit((tag, issued) => {
        if (issued > 0) this.label(tag);
      });
    }
    for (const series of this.labelled.values()) {
      series.stock = undefined;
      this.segments.visitOne(series.tag, (_, ...figures) => {
        series.see(...figures);
      });
    }
    this.otherIssued = this.figures().reduce((rest, { issued }) => rest - issued, this.segments.issued);
  }

  /** Of the tags with a label, as of the last look. */
  figures(): TagFigures[] {
    return [...this.labelled.values()];
  }

  private label(tag: string): void {
    if (this.labelled.size >= LABELLED_TAGS || tag === OTHER_TAGS || this.labelled.has(tag)) return;
    this.labelled.set(tag, new Series(tag));
  }
}
