const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** A number without decimals, with commas between the thousands. */
export function whole(value: number): string {
  return grouped.format(value);
}
