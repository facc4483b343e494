import * as fc from 'fast-check';
import { CommandParser, MAX_COMMAND_BYTES, MAX_LINE_BYTES, MAX_WORDS, ProtocolFault } from './command-parser';

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

/** All commands of the bytes, which arrive in these chunks, and the fault at their end. */
function parse(chunks: readonly Buffer[]): { commands: string[][]; fault: string | undefined; pending: number } {
  const parser = new CommandParser();
  const commands: string[][] = [];
  try {
    for (const chunk of chunks) {
      parser.push(chunk);
      for (let words = parser.next(); words !== undefined; words = parser.next()) commands.push(words);
    }
  } catch (error) {
    if (!(error instanceof ProtocolFault)) throw error;
    return { commands, fault: error.message, pending: parser.pending };
  }
  return { commands, fault: undefined, pending: parser.pending };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const parseText = (text: string): ReturnType<typeof parse> => parse([bytesOf(text)]);

describe('CommandParser', () => {
  const COMMANDS = [
    ['INCR', 'order'],
    ['PING'],
    ['ECHO', '\r\n\0ÿ$*'],
    ['LEAF.RANGE', 'order', '10'],
    ['ECHO', ''],
    ['ECHO', '123456789'],
  ];
  const STREAM = `${COMMANDS.map(encode).join('')}\r\n*0\r\nincr  order\r\nPING\n*0000000001\r\n$0000000004\r\nTIME\r\n`;
  const EXPECTED = [...COMMANDS, [], [], ['incr', 'order'], ['PING'], ['TIME']];

  it('reads the same commands at every split of the stream', () => {
    const bytes = bytesOf(STREAM);
    for (let at = 0; at <= bytes.length; at++) {
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual({
        commands: EXPECTED,
        fault: undefined,
        pending: 0,
      });
    }
    expect(parse(Array.from(bytes, (byte) => Buffer.of(byte))).commands).toEqual(EXPECTED);
  });

  it.each([
    ['*a\r\n', 'invalid multibulk length'],
    ['*\r\n', 'invalid multibulk length'],
    ['*-1\r\n', 'invalid multibulk length'],
    ['*1\rx', 'invalid multibulk length'],
    ['*00000000001\r\n', 'invalid multibulk length'],
    [`*${MAX_WORDS + 1}\r\n`, 'invalid multibulk length'],
    ['*1\r\n:1\r\n', "expected '$'"],
    ['*1\r\n$-1\r\n', 'invalid bulk length'],
    [`*1\r\n$${MAX_COMMAND_BYTES + 1}\r\n`, 'invalid bulk length'],
    [`*1\r\n$${MAX_COMMAND_BYTES - 13}\r\n`, 'command too long'],
    ['*1\r\n$4\r\nPINGx\n', 'expected a line break'],
    ['*1\r\n$4\r\nPING\rx', 'expected a line break'],
    ['x'.repeat(MAX_LINE_BYTES + 1), 'inline command too long'],
    [`${'x'.repeat(MAX_LINE_BYTES)}\n`, 'inline command too long'],
    [`${'x '.repeat(MAX_WORDS + 1)}\n`, 'too many words'],
  ])('refuses %j', (text, fault) => {
    expect(parseText(`${encode(['PING'])}${text}`)).toMatchObject({ commands: [['PING']], fault });
  });

  it('accepts what is exactly at its limits', () => {
    const head = `*1\r\n$${MAX_COMMAND_BYTES - 14}\r\n`;
    const word = 'x'.repeat(MAX_COMMAND_BYTES - head.length - 2);
    expect(encode([word])).toHaveLength(MAX_COMMAND_BYTES);
    const many = Array.from({ length: MAX_WORDS }, () => 'x');
    const line = `${'x'.repeat(MAX_LINE_BYTES - 1)}\n`;
    const { commands } = parseText(`${encode([word])}${encode(many)}${many.join(' ')}\n${line}`);
    expect(commands).toEqual([[word], many, many, [line.trimEnd()]]);
  });

  it('accepts an empty line ahead of more bytes than a line may have', () => {
    const text = 'x'.repeat(MAX_LINE_BYTES);
    expect(parseText(`\n${encode(['ECHO', text])}`).commands).toEqual([[], ['ECHO', text]]);
  });

  it('counts the bytes of a command that is not complete', () => {
    expect(parseText(`${encode(['PING'])}*1\r\n$4`).pending).toBe(6);
  });

  it('keeps no more bytes than one command may have, whatever arrives', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (texts) => {
        const { pending, fault } = parse(texts.map(bytesOf));
        return fault !== undefined || pending <= MAX_COMMAND_BYTES;
      }),
      { numRuns: 20_000 },
    );
  });

  it('reads any bytes alike, in whatever chunks they arrive', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 8 }), (texts, cuts) => {
        const bytes = bytesOf(texts.join(''));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
        const { commands, fault } = parse([bytes]);
        const split = parse(chunks);
        expect([split.commands, split.fault]).toEqual([commands, fault]);
      }),
      { numRuns: 20_000 },
    );
  });

  /** Commands, parts of commands, and any other bytes. */
  const pieces = fc.oneof(
    fc.array(fc.constantFrom('INCR', 'order', '', 'ÿ\r\n'), { minLength: 1, maxLength: 4 }).map(encode),
    fc.constantFrom('*', '$', '\r\n', '\n', '*2\r\n', '$4\r\n', '$100\r\nx', 'PING\r\n', '*1\r\n', '0', '-1', ' '),
    fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
});
