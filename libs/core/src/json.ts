/** Beyond it there is no date. */
const MAX_TIME = 8_640_000_000_000_000;

/** Unix milliseconds. */
export function isTime(value: unknown): value is number {
  return isCount(value) && value <= MAX_TIME;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Empty for anything that is not an object in JSON. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Empty for anything that is not an array in JSON. */
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
