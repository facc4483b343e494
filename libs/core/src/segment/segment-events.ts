export interface SegmentEvents {
  /** Loads of a tag began to fail, or still do. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
  readonly onRefreshFailed: (error: unknown) => void;
}
