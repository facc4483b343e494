import type { Language } from '../i18n/messages';

const LOCALES: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-CN' };
const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Formats numbers and times for one language. */
export class Format {
  private readonly whole: Intl.NumberFormat;
  private readonly compact: Intl.NumberFormat;
  private readonly relative: Intl.RelativeTimeFormat;
  private readonly locale: string;

  constructor(language: Language) {
    this.locale = LOCALES[language];
    this.whole = new Intl.NumberFormat(this.locale, { maximumFractionDigits: 0 });
    this.compact = new Intl.NumberFormat(this.locale, { notation: 'compact', maximumSignificantDigits: 3 });
    this.relative = new Intl.RelativeTimeFormat(this.locale, { numeric: 'always', style: 'narrow' });
  }

  /** All digits, with group separators. */
  count(value: number | bigint): string {
    return this.whole.format(value);
  }

  /** Three digits and a unit: 1.9 M. */
  short(value: number): string {
    return value < 10_000 ? this.count(value) : this.compact.format(value);
  }

  /** A rate per second; no decimals from 10 on. */
  rate(value: number): string {
    if (value >= 1_000_000) return this.compact.format(value);
    if (value >= 9.95 || value === 0) return this.count(value);
    return value < 0.05 ? '<0.1' : value.toFixed(1);
  }

  /** Milliseconds, to about two digits; from 100 s on as a duration. */
  milliseconds(value: number): string {
    if (value >= 99_950) return this.span(value);
    if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
    if (value >= 10) return `${this.count(value)} ms`;
    return `${value.toFixed(value < 0.1 ? 2 : 1)} ms`;
  }

  percent(ratio: number): string {
    return `${(ratio * 100).toFixed(ratio < 0.1 && ratio > 0 ? 1 : 0)} %`;
  }

  /** `22 s ago`; `moment` can be before or after `now`. */
  ago(moment: number, now: number): string {
    const past = moment - now;
    const [unit, ms] = UNITS.find(([, size]) => Math.abs(past) >= size) ?? ['second', 1000];
    return this.relative.format(Math.trunc(past / ms), unit);
  }

  /** A duration: `0:41 min`, `1:02 h`, `3.5 d`. */
  span(ms: number): string {
    const seconds = Math.floor(ms / 1000);
    const two = (value: number): string => String(value).padStart(2, '0');
    if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)} min`;
    if (seconds < 86_400) return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)} h`;
    const days = seconds / 86_400;
    if (days < 1000) return `${days < 10 ? days.toFixed(1) : this.count(days)} d`;
    return `${this.short(days / 365.25)} a`;
  }

  /** A time with milliseconds, in UTC. */
  utc(moment: number): string {
    const date = new Date(moment);
    return Number.isNaN(date.getTime()) ? '–' : date.toISOString().replace('T', ' ').replace('Z', ' UTC');
  }

  /** A time with milliseconds, in the time zone of the browser. */
  local(moment: number): string {
    const date = new Date(moment);
    if (Number.isNaN(date.getTime())) return '–';
    const two = (value: number): string => String(value).padStart(2, '0');
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
    const zone = new Intl.DateTimeFormat(this.locale, { timeZoneName: 'short' })
      .formatToParts(date)
      .find(({ type }) => type === 'timeZoneName');
    return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, '0')} ${zone?.value ?? ''}`.trim();
  }

  /** A time without milliseconds, in the time zone of the browser. */
  seconds(moment: number): string {
    return this.local(moment).slice(0, 19);
  }

  /** Time of day in the time zone of the browser. */
  clock(moment: number): string {
    return this.local(moment).slice(11, 19);
  }
}
