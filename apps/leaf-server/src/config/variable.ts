import type { Parser } from './parsers';

export interface Variable<T> {
  /** Undefined: the default depends on other settings, `meaning` says how. */
  readonly default: string | undefined;
  readonly meaning: string;
  readonly parse: Parser<T>;
  /** The value is never shown. */
  readonly secret: boolean;
  /**
   * An empty value is refused: the default would use another database, registry, address or layout, where IDs can be
   * issued twice, or would remove the protection of the ID routes.
   */
  readonly neverEmpty: boolean;
}

export function variable<T>(
  fallback: string | number | boolean | undefined,
  parse: Parser<T>,
  meaning: string,
  secret = false,
): Variable<T> {
  return { default: fallback === undefined ? undefined : String(fallback), meaning, parse, secret, neverEmpty: false };
}

export function neverEmpty<T>(given: Variable<T>): Variable<T> {
  return { ...given, neverEmpty: true };
}
