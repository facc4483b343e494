/** How a response of `application/json` shows an ID. Many parsers round a number above 2^53. */
export type JsonIds = 'number' | 'string';

const ACCEPT = 'accept';
/** A longer one, which no client sends by itself, counts as none. */
const MAX_ACCEPT_LENGTH = 1024;
const JSON_MEDIA_TYPE = 'application/json';

/**
 * Whether `Accept` names `application/json` first. Spring's `RestTemplate` does so for every type except text, and
 * refuses a response of another type.
 */
export function prefersJson(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === ACCEPT.length && name.toLowerCase() === ACCEPT)
      return isJsonFirst(rawHeaders[at + 1] as string);
  }
  return false;
}

/** The text of an ID in a JSON response. */
export function jsonId(id: string, ids: JsonIds): string {
  return ids === 'number' ? id : `"${id}"`;
}

/** A route of the Java service, with or without what follows the last dot, or a slash. */
const JAVA_ROUTE =
  /^(?<route>\/api\/(?:segment|snowflake)\/get\/[^/]*?|\/decodeSnowflakeId|\/cache|\/db)(?:\.(?<suffix>[^/.]*))?(?<slash>\/)?$/;

/**
 * Changes the URL to the one that Spring 4, the framework of the Java service, would have mapped to a route: without
 * what follows a `;`, with single slashes, without a slash at the end, and else without what follows the last dot, so
 * that `/api/segment/get/order.v1` is the tag `order`. A suffix `json` takes precedence over `Accept`. Routes that the
 * Java service does not have stay as they are.
 *
 * @see UrlPathHelper, AntPathMatcher and PatternsRequestCondition of Spring Framework 4.3
 */
export function mapAsSpring(request: { url?: string | undefined; readonly rawHeaders: string[] }): void {
  const { url = '' } = request;
  const end = url.indexOf('?') < 0 ? url.length : url.indexOf('?');
  const plain = url
    .slice(0, end)
    .replace(/;[^/]*/g, '')
    .replace(/%2e/gi, '.')
    .replace(/\/{2,}/g, '/');
  const { route, suffix, slash } = JAVA_ROUTE.exec(plain)?.groups ?? {};
  if (route === undefined) return;
  const cut = slash === undefined ? route : plain.slice(0, -1);
  request.url = cut + url.slice(end);
  if (suffix === 'json' && slash === undefined) request.rawHeaders.unshift(ACCEPT, JSON_MEDIA_TYPE);
}

function isJsonFirst(accept: string): boolean {
  if (accept.length > MAX_ACCEPT_LENGTH) return false;
  const ranges = accept.toLowerCase().split(',').map(rangeOf);
  const [first] = ranges.sort((one, other) => other.quality - one.quality);
  return first?.type === JSON_MEDIA_TYPE && first.quality > 0;
}

function rangeOf(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) };
}
