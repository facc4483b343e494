import type { Parser } from './parsers';

export interface Variable<T> {
  /** Undefined: the default depends on other settings, `meaning` says how. */
  readonly default: string | undefined;
  readonly meaning: string;
  readonly parse: Parser<T>;
  /** The value is never shown. */
  readonly secret: boolean;
}

export function variable<T>(
  fallback: string | number | boolean | undefined,
  parse: Parser<T>,
  meaning: string,
  secret = false,
): Variable<T> {
  return { default: fallback === undefined ? undefined : String(fallback), meaning, parse, secret };
}
