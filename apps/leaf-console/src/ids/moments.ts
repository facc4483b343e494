export type SpanName = 'millisecond' | 'second' | 'utcDay' | 'localDay';

/** Unix milliseconds, inclusive. */
export interface Span {
  readonly name: SpanName;
  readonly from: number;
  readonly to: number;
}

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

/** The spans that contain a moment. Omits the local day if it equals the UTC day. */
export function spansOf(moment: number): Span[] {
  const second = Math.floor(moment / SECOND_MS) * SECOND_MS;
  const utc = Math.floor(moment / DAY_MS) * DAY_MS;
  const date = new Date(moment);
  const local = new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  // Days on which daylight saving time changes have 23 or 25 hours.
  const localEnd = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
  const spans: Span[] = [
    { name: 'millisecond', from: moment, to: moment },
    { name: 'second', from: second, to: second + SECOND_MS - 1 },
    { name: 'utcDay', from: utc, to: utc + DAY_MS - 1 },
  ];
  if (local !== utc) spans.push({ name: 'localDay', from: local, to: localEnd - 1 });
  return spans;
}

/** Parses Unix milliseconds, or an ISO 8601 date and time; local time without Z or an offset. */
export function parseMoment(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^\d{11,15}$/.test(trimmed)) return Number(trimmed);
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)\s*(Z|UTC|[+-]\d\d:\d\d)?)?$/i.exec(
    trimmed,
  );
  if (match === null) return undefined;
  const [, day = '', time = '00:00', zone = ''] = match;
  const moment = Date.parse(`${day}T${time}${zone.toUpperCase().replace('UTC', 'Z')}`);
  return Number.isNaN(moment) ? undefined : moment;
}
