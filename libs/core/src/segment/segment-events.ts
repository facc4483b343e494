export interface SegmentEvents {
  /** Loads of a tag are failing. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
  readonly onRefreshFailed: (error: unknown) => void;
}
