/** Headers of one request. Node.js keeps the first ones; it drops the others and reports no error. */
export const MAX_HEADERS = 100;

/** What the requests with one header block have in common. */
export interface RequestHead {
  /** Names and values in turn, as the client wrote them. */
  readonly rawHeaders: readonly string[];
  /** By name in lower case; no name occurs twice. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request without a body, as the connection sent it. */
export interface ReadRequest {
  readonly url: string;
  readonly head: RequestHead;
  /** Where the next request begins. */
  readonly end: number;
}

const METHOD = 'GET ';
const VERSION = ' HTTP/1.1\r\n';
const END = '\r\n\r\n';
/** Characters of request line and headers; Node.js decides about more. */
const MAX_LENGTH = 8192;
const URL = /^\/[\x21\x24-\x7e]*$/;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** A body, another protocol, or another end of the connection: Node.js decides about these. */
const LEFT_TO_NODE = new Set([
  ...['content-length', 'transfer-encoding', 'trailer', 'te', 'expect', 'upgrade', 'http2-settings'],
  ...['proxy-connection', 'keep-alive'],
]);

/**
 * Reads the plainest requests of HTTP/1.1 (RFC 9112): `GET`, no body announced, a complete header block without anything
 * that two readers could understand differently. Every other request is left to Node.js. It remembers the header block of
 * a connection, which clients repeat: then one comparison replaces reading it.
 */
export class RequestReader {
  private block = '';
  private head: RequestHead | undefined;

  /** @returns undefined for a request that is left to Node.js */
  read(text: string, begin: number): ReadRequest | undefined {
    const { block } = this;
    if (!text.startsWith(METHOD, begin)) return undefined;
    const urlEnd = text.indexOf(' ', begin + METHOD.length);
    if (urlEnd < 0 || !text.startsWith(VERSION, urlEnd)) return undefined;
    const url = text.slice(begin + METHOD.length, urlEnd);
    if (!URL.test(url)) return undefined;
    const headersAt = urlEnd + VERSION.length;
    const isRepeated = this.head !== undefined && text.startsWith(block, headersAt);
    const end = isRepeated ? headersAt + block.length : text.indexOf(END, headersAt) + END.length;
    if (end < END.length || end - begin > MAX_LENGTH) return undefined;
    if (isRepeated && this.head !== undefined) return { url, head: this.head, end };
    const own = ownCopy(text.slice(headersAt, end));
    const head = headOf(own.slice(0, -END.length));
    if (head === undefined) return undefined;
    this.block = own;
    this.head = head;
    return { url, head, end };
  }
}

/** A copy of latin1 text: a part of a string keeps all of it in memory. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** @param lines without the empty one */
function headOf(lines: string): RequestHead | undefined {
  const rawHeaders: string[] = [];
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':');
    const [name, text] = [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)];
    if (!NAME.test(name) || !VALUE.test(text) || rawHeaders.length === 2 * MAX_HEADERS) return undefined;
    const value = text.trim();
    const key = name.toLowerCase();
    if (LEFT_TO_NODE.has(key)) return undefined;
    if (key === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined;
    // Node.js joins the values of some, and keeps the first of others.
    if (key in headers) return undefined;
    headers[key] = value;
    rawHeaders.push(name, value);
  }
  return headers.host === undefined ? undefined : { rawHeaders, headers };
}
