/** Columns as wide as their widest cell; the first column is left-aligned, the others right-aligned. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]): string =>
    widths
      .map((width, column) =>
        column === 0 ? (line[column] ?? '').padEnd(width) : (line[column] ?? '').padStart(width),
      )
      .join('  ');
  return [format(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(format)].join('\n');
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function whole(value: number): string {
  return grouped.format(value);
}

export function decimals(value: number, digits: number): string {
  return value.toFixed(digits);
}

/** Four digits for small numbers, no decimals for large numbers. */
export function significant(value: number): string {
  return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(4)));
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
