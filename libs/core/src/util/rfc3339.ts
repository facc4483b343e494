const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** Parses a time in RFC 3339; undefined if it is invalid. A leap second counts as the last second of its day. */
export function parseRfc3339(text: string): Date | undefined {
  const day = TIME.exec(text)?.[1];
  // Date cannot parse a leap second.
  const time = new Date(day === undefined ? NaN : text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  // Date would convert February 30 to March 2.
  const isValid = !Number.isNaN(time.getTime()) && new Date(`${day}T00:00Z`).toISOString().startsWith(String(day));
  return isValid ? time : undefined;
}
