/** Extra rows above and below the viewport, for fast scrolling and keyboard focus. */
const SPARE = 8;

export interface DrawnRows {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** Which rows of equal height to draw. */
export function drawnRows(count: number, rowHeight: number, scrollTop: number, height: number): DrawnRows {
  const seen = Math.ceil(height / rowHeight) + 1;
  // Rows may have gone since the last scroll.
  const first = Math.min(Math.floor(Math.max(0, scrollTop) / rowHeight), Math.max(0, count - seen));
  return { first: Math.max(0, first - SPARE), end: Math.min(count, first + seen + SPARE) };
}
