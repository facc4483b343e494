/** Each character encodes two bits. */
const DIGITS = [' ', '\t', '\n', '\r'];

/** Encodes text as whitespace, which JSON parsers ignore after a document. */
export function hide(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .flatMap((byte) => [byte >> 6, byte >> 4, byte >> 2, byte].map((bits) => DIGITS[bits & 3]))
    .join('');
}

/** Decodes the text that {@link hide} appended to `data`; empty if there is none. */
export function reveal(data: string): string {
  const digits = Array.from(data.slice(data.trimEnd().length), (digit) => DIGITS.indexOf(digit));
  const bytes = Array.from({ length: digits.length >> 2 }, (_, n) =>
    digits.slice(4 * n, 4 * n + 4).reduce((byte, bits) => byte * 4 + bits, 0),
  );
  return Buffer.from(bytes).toString('utf8');
}
