/** The largest time value of a `Date`. */
const MAX_TIME = 8_640_000_000_000_000;

/** Whether `value` is a time in Unix milliseconds. */
export function isTime(value: unknown): value is number {
  return isCount(value) && value <= MAX_TIME;
}

/** A time in Unix milliseconds for messages, as in ISO 8601: the latest time that has such a form, if it is later. */
export function formatTime(time: number): string {
  return new Date(Math.min(time, MAX_TIME)).toISOString();
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Parses a JSON object; returns an empty object for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Parses a JSON array; returns an empty array for any other text. */
export function parseArray(text: string): readonly unknown[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
