/** Columns as wide as their widest cell; the first column is left-aligned, the others right-aligned. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]): string =>
    widths
      .map((width, column) => (column === 0 ? (line[0] ?? '').padEnd(width) : (line[column] ?? '').padStart(width)))
      .join('  ');
  return [format(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(format)].join('\n');
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** All these write nothing for a value that is not known. */
export function whole(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '' : grouped.format(value);
}

export function decimals(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);
}

export function percent(share: number | undefined): string {
  return share === undefined ? '' : `${decimals(share * 100, 1)} %`;
}

/** Four digits for small numbers, no decimals for large numbers. */
export function significant(value: number): string {
  return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(4)));
}

/** Two cells: the median, and `min..max`. */
export function spread(
  summary: Readonly<Record<'median' | 'min' | 'max', number>> | undefined,
  format: (value: number) => string = whole,
): [string, string] {
  if (summary === undefined) return ['', ''];
  return [format(summary.median), `${format(summary.min)}..${format(summary.max)}`];
}
