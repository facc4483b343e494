/** A request for IDs whose response names it and has its own size. */
export function requestOf(nonce: string, size: number, ...headers: readonly string[]): string {
  const lines = [`GET /api/segment/range/leaf-segment-test?size=${size}&nonce=${nonce} HTTP/1.1`, 'Host: leaf'];
  return `${[...lines, ...headers].join('\r\n')}\r\n\r\n`;
}

const SMUGGLED = requestOf('smuggled', 2);
/** Takes the next request of its connection for the value of a header. */
const PREFIX = requestOf('smuggled', 2, 'X: ').slice(0, -4);
/** Read in chunks, it ends before the prefix; read by a length, behind it. */
const CHUNKS_OR_LENGTH = `0\r\n\r\n${PREFIX}`;
const N = PREFIX.length;
const CHUNKED = 'Transfer-Encoding: chunked';
const PATH = '/api/segment/get/leaf-segment-test';
const LINE = `GET ${PATH} HTTP/1.1`;

const withHead = (lines: readonly string[], rest = ''): string => `${lines.join('\r\n')}\r\n\r\n${rest}`;
const get = (headers: readonly string[], rest = ''): string => withHead([LINE, 'Host: leaf', ...headers], rest);
const length = (value: string | number): string => `Content-Length: ${value}`;

/** Each beside a length, which ends elsewhere: a reader that does not see it as another does is desynchronised. */
const ENCODINGS = [
  ...['chunked', 'Chunked', ' chunked', '\tchunked', '\vchunked', 'chunked ', 'chunked\t', '"chunked"', "'chunked'"],
  ...['xchunked', 'chunkedx', 'chunked;q=1', 'identity', '', ',chunked', 'chunked,', 'chunked\0', 'chunked\x7f'],
  ...['chunked, identity', 'identity, chunked', 'gzip, chunked', 'chunked, chunked', '\xa0chunked', 'chunked\rX: y'],
].map((value) => `Transfer-Encoding:${value}`);
const ENCODING_LINES = [
  ...['Transfer-Encoding : chunked', 'Transfer-Encoding\t: chunked', ' Transfer-Encoding: chunked'],
  ...['Transfer-Encoding:\r\n chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'],
  ...['Transfer\0-Encoding: chunked', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked'],
  ...['X: a\rTransfer-Encoding: chunked', '\x00Transfer-Encoding: chunked', 'X: a\nTransfer-Encoding: chunked'],
  ...['X: a\r\n Transfer-Encoding: chunked', 'Transfer-Encoding\xad: chunked', ': a\r\nTransfer-Encoding: chunked'],
];
/** Each before a prefix of that length. */
const LENGTHS = [
  ...[`${N}`, `+${N}`, `-${N}`, `0${N}`, ` ${N} `, `\t${N}`, `\v${N}`, `0x${N.toString(16)}`, `0, ${N}`, `${N}, 0`],
  ...[`${N}, ${N}`, `${N},`, `${N} 0`, `${N}.0`, `${N};`, `${N}e0`, `"${N}"`, '', '0', '-0'],
  ...[`${2n ** 64n + BigInt(N)}`, `${N}\0`, `\xb2${N}`],
].map((value) => length(value));
const LENGTH_LINES = [
  ...[`Content-Length : ${N}`, `Content-Length\t: ${N}`, ` Content-Length: ${N}`, `Content_Length: ${N}`],
  ...[`Content-Length ${N}`, `Content-Length:\r\n ${N}`, `X: a\r\n Content-Length: ${N}`],
  ...[`X: a\rContent-Length: ${N}`, `X: a\nContent-Length: ${N}`, `${length(N)}\r\n${length(N)}`],
  ...[`${length(0)}\r\n${length(N)}`, `${length(N)}\r\n${length(0)}`, `Content\0-Length: ${N}`],
  ...[`Connection: content-length\r\n${length(N)}`, `Connection: close, content-length\r\n${length(N)}`],
  ...[`Trailer: content-length\r\n${length(N)}`, `Expect: 100-continue\r\n${length(N)}`],
  ...[`Expect: y 100-continue\r\n${length(N)}`, `Expect:\r\n${length(N)}`, `TE: trailers\r\n${length(N)}`],
];
const CHUNKS = [
  ...['5;a\nhello\r\n0\r\n\r\n', '5;a\rhello\r\n0\r\n\r\n', '5;a="\r\nhello"\r\n0\r\n\r\n'],
  ...['5;a=b\r\nhello\r\n0\r\n\r\n', '0x5\r\nhello\r\n0\r\n\r\n', '+5\r\nhello\r\n0\r\n\r\n'],
  ...['-5\r\nhello\r\n0\r\n\r\n', '5 \r\nhello\r\n0\r\n\r\n', ' 5\r\nhello\r\n0\r\n\r\n', '5\nhello\n0\n\n'],
  ...['5\rhello\r0\r\r', '5\r\nhello0\r\n\r\n', '5\r\nhelloXX0\r\n\r\n', '5\r\nhello\n0\r\n\r\n'],
  ...['5\r\nhello\r\n00\r\n\r\n', '5\r\nhello\r\n0\r\n\n', '5\r\nhello\r\n\r\n0\r\n\r\n'],
  ...['FFFFFFFFFFFFFFFF5\r\nhello\r\n0\r\n\r\n', `${'0'.repeat(20)}5\r\nhello\r\n0\r\n\r\n`],
  ...['5\r\nhello\r\n0;a\r\n\r\n', '\r\n5\r\nhello\r\n0\r\n\r\n', `0\r\n${length(N)}\r\n\r\n`],
  ...[`0\r\n${CHUNKED}\r\n\r\n`, '0\r\nX: a\rY: b\r\n\r\n', '0\r\nX: a\nY: b\r\n\r\n', '0\r\nHost: b\r\n\r\n'],
  ...['0\r\nX : a\r\n\r\n'],
];
const HEADERS = [
  ...['Host: other', 'hOST: leaf', 'Host : other', 'X: a\r\n b', 'X: a\rb', 'X: a\nY: b', 'X: a\0b', 'X\t: a'],
  ...['X Y: a', 'X_Y: a', 'X(Y): a', ': a', 'X', 'X:', 'X: \xff', 'X\xff: a', 'Connection: host'],
  ...['Connection: keep-alive, x-forwarded-for', 'Connection: \tKeep-Alive ', 'Keep-Alive: timeout=1, max=1'],
  ...['Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__'],
  ...['Connection: Upgrade\r\nUpgrade: websocket', 'Upgrade: h2c', 'X-HTTP-Method-Override: POST'],
  ...['X-HTTP-Method: HEAD', 'X-Original-URL: /nothing', 'X-Forwarded-Host: other', 'Expect: 100-continue'],
  ...['Range: bytes=0-0', `X: ${'a'.repeat(9000)}`, `X: ${'a'.repeat(20_000)}`],
  ...[Array.from({ length: 101 }, (_, n) => `X-${n}: a`).join('\r\n')],
];
const CLOSES = [
  ...['Connection: close, keep-alive', 'Connection: keep-alive, close'],
  ...['Connection: keep-alive\r\nConnection: close', 'Proxy-Connection: close'],
];
const LINES = [
  ...[`GET http://leaf${PATH} HTTP/1.1`, `GET http://other${PATH} HTTP/1.1`],
  ...[`GET ${PATH} HTTP/1.0\r\nConnection: keep-alive`, `GET ${PATH}`],
  ...[`GET ${PATH} HTTP/1.0\r\nConnection: keep-alive\r\n${CHUNKED}`, `GET ${PATH} HTTP/1.2`, `GET ${PATH} HTTP/2.0`],
  ...[`get ${PATH} HTTP/1.1`, `GET  ${PATH} HTTP/1.1`, `GET\t${PATH} HTTP/1.1`, `GET ${PATH} HTTP/1.1 `],
  ...[`\r\n${LINE}`, `\n${LINE}`, ` ${LINE}`, `\r${LINE}`, `GET ${PATH}\r HTTP/1.1`, `GET ${PATH}\0 HTTP/1.1`],
  ...[`GET ${PATH}\xff HTTP/1.1`, `GET ${PATH}#a HTTP/1.1`, `GET ${PATH} x HTTP/1.1`, `GET ${PATH}%0d%0aX: HTTP/1.1`],
  ...[`GET * HTTP/1.1`, `${LINE}\nX: a`, `HEAD ${PATH} HTTP/1.1`, `OPTIONS * HTTP/1.1`, `CONNECT leaf:80 HTTP/1.1`],
  ...[`TRACE / HTTP/1.1`, `PRI * HTTP/2.0\r\n\r\nSM`, `GET //x${PATH} HTTP/1.1`],
  ...[`GET ${PATH}${'a'.repeat(9000)} HTTP/1.1`, `GET ${PATH}${'a'.repeat(20_000)} HTTP/1.1`],
  ...[`GET ${PATH}?_method=POST HTTP/1.1`, `GET /x/../${PATH} HTTP/1.1`],
];

const IN_CHUNKS = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
const ORDINARY = get([]);
const behindLength = (text: string): string => get([length(CHUNKS_OR_LENGTH.length), text], CHUNKS_OR_LENGTH);
const name = (text: string): string => JSON.stringify(text).slice(0, 70);

/** What an attacker sends, by what is special in it. */
export const VECTORS: readonly (readonly [string, string])[] = [
  ...[...ENCODINGS, ...ENCODING_LINES].flatMap((text) => [
    [`${name(text)} behind a length`, behindLength(text)] as const,
    [`${name(text)} before a shorter length`, get([text, length(4)], IN_CHUNKS)] as const,
  ]),
  ...[...LENGTHS, ...LENGTH_LINES].map((text) => [name(text), get([text], PREFIX)] as const),
  ...HEADERS.map((text) => [name(text), get([text], SMUGGLED)] as const),
  ...CLOSES.map((text) => [name(text), get([text])] as const),
  ...LINES.map((text) => [name(text), withHead([text, 'Host: leaf'], SMUGGLED)] as const),
  ['an encoding with an underscore', behindLength('Transfer_Encoding: chunked')],
  ['no Host', withHead([LINE], SMUGGLED)],
  ['an empty Host', withHead([LINE, 'Host:'], SMUGGLED)],
  ['two hosts in one', withHead([LINE, 'Host: leaf, other'], SMUGGLED)],
  ['bare line feeds', `${LINE}\nHost: leaf\n\n${SMUGGLED}`],
  ['bare carriage returns', `${LINE}\rHost: leaf\r\r${SMUGGLED}`],
  ['a head that ends in a bare line feed', `${LINE}\r\nHost: leaf\r\n\n${SMUGGLED}`],
  ['a body that ends too soon', get([length(SMUGGLED.length + 20)], SMUGGLED)],
  ['a body of a POST', withHead([`POST ${PATH} HTTP/1.1`, 'Host: leaf', length(N)], PREFIX)],
  ['a body of a HEAD', withHead([`HEAD ${PATH} HTTP/1.1`, 'Host: leaf', length(N)], PREFIX)],
  ['ordinary requests and a prefix', ORDINARY + ORDINARY + PREFIX],
  ['a request for the framework between others', `${ORDINARY}${get([]).replace(PATH, '/nothing')}${SMUGGLED}`],
  ['empty lines between requests', `${ORDINARY}\r\n\r\n${SMUGGLED}`],
];

/** Bodies in chunks: one that is refused comes behind a request that may have been answered. */
export const CHUNK_VECTORS = CHUNKS.map((text) => [name(text), get([CHUNKED], text + SMUGGLED)] as const);

/** Harmless, unless a server does not know the body. */
export const BODY_VECTOR = get([length(N)], PREFIX);
