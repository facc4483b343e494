/** Bytes of one command, with its lengths and line breaks. */
export const MAX_COMMAND_BYTES = 16_384;
/** Words of one command, with its name. */
export const MAX_WORDS = 64;
/** Bytes of an inline command, with its line break. */
export const MAX_LINE_BYTES = 1024;

const NOTHING = Buffer.alloc(0);
const ARRAY = '*'.charCodeAt(0);
const STRING = '$'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const CR = 13;
const LF = 10;
/** Digits of a length. */
const MAX_DIGITS = 10;
/** A length whose bytes have not all arrived. */
const INCOMPLETE = -1;

/** Bytes that are not a command. The connection cannot be read further. */
export class ProtocolFault extends Error {}

/**
 * Reads commands from the bytes of one connection: RESP arrays of bulk strings, and inline commands, whose words are
 * separated by blanks. Words are latin1 strings, one character for each byte.
 *
 * Bytes that are not a complete command are kept; there are never more than {@link MAX_COMMAND_BYTES} of them.
 */
export class CommandParser {
  private bytes: Buffer = NOTHING;
  /** Start of the next command. */
  private start = 0;
  /** The next byte to read. */
  private at = 0;

  push(chunk: Buffer): void {
    // Stryker disable next-line ConditionalExpression: it saves a copy.
    const isEmpty = this.start === this.bytes.length;
    this.bytes = isEmpty ? chunk : Buffer.concat([this.bytes.subarray(this.start), chunk]);
    this.start = 0;
  }

  /** Number of bytes that belong to commands not read yet. */
  get pending(): number {
    return this.bytes.length - this.start;
  }

  /**
   * The words of the next command; none for an empty line or array, which is not a command; undefined until all bytes
   * have arrived.
   *
   * @throws ProtocolFault
   */
  next(): string[] | undefined {
    // Stryker disable next-line ConditionalExpression,BlockStatement: readLine would find nothing either.
    if (this.start === this.bytes.length) {
      // Node.js could not reuse the memory of the chunk otherwise.
      this.bytes = NOTHING;
      this.start = 0;
      return undefined;
    }
    this.at = this.start;
    const words = this.bytes[this.at] === ARRAY ? this.readArray() : this.readLine();
    if (words !== undefined) this.start = this.at;
    return words;
  }

  private readArray(): string[] | undefined {
    this.at++;
    const count = this.readLength(MAX_WORDS, 'invalid multibulk length');
    if (count === INCOMPLETE) return undefined;
    const words: string[] = [];
    while (words.length < count) {
      const word = this.readString();
      if (word === undefined) return undefined;
      words.push(word);
    }
    return words;
  }

  private readString(): string | undefined {
    const { bytes } = this;
    if (this.at >= bytes.length) return undefined;
    if (bytes[this.at] !== STRING) throw new ProtocolFault("expected '$'");
    this.at++;
    const length = this.readLength(MAX_COMMAND_BYTES, 'invalid bulk length');
    if (length === INCOMPLETE) return undefined;
    const from = this.at;
    const to = from + length;
    if (to + 2 - this.start > MAX_COMMAND_BYTES) throw new ProtocolFault('command too long');
    if (bytes.length < to + 2) return undefined;
    if (bytes[to] !== CR || bytes[to + 1] !== LF) throw new ProtocolFault('expected a line break');
    this.at = to + 2;
    return bytes.toString('latin1', from, to);
  }

  /** Reads a decimal number and its line break. */
  private readLength(maximum: number, fault: string): number {
    const { bytes, at } = this;
    let length = 0;
    let end = at;
    for (; end < bytes.length && bytes[end] !== CR; end++) {
      const digit = (bytes[end] as number) - ZERO;
      length = length * 10 + digit;
      if (digit < 0 || digit > 9 || length > maximum || end - at === MAX_DIGITS) throw new ProtocolFault(fault);
    }
    if (end + 1 >= bytes.length) return INCOMPLETE;
    if (end === at || bytes[end + 1] !== LF) throw new ProtocolFault(fault);
    this.at = end + 2;
    return length;
  }

  private readLine(): string[] | undefined {
    const { bytes, start } = this;
    const end = bytes.indexOf(LF, start);
    const length = (end < 0 ? bytes.length : end + 1) - start;
    if (length > MAX_LINE_BYTES) throw new ProtocolFault('inline command too long');
    if (end < 0) return undefined;
    this.at = end + 1;
    const words = bytes.toString('latin1', start, end).split(/[ \t\r]+/);
    const given = words.filter((word) => word !== '');
    if (given.length > MAX_WORDS) throw new ProtocolFault('too many words');
    return given;
  }
}
