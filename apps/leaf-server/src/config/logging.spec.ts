import { LeafLogger, visible } from './logging';

/** A message with a line of its own, a colour, and text that runs backwards. */
const HOSTILE = 'tag "a"\r\n[Leaf] 1 LOG all is well\u001b[31m\u009b0m\u2028\u202ehsifniw\0\x7f';
const SEEN = 'tag "a"\\u000d\\u000a[Leaf] 1 LOG all is well\\u001b[31m\\u009b0m\\u2028\\u202ehsifniw\\u0000\\u007f';

describe('the log', () => {
  let written: string;
  beforeEach(() => {
    written = '';
    for (const stream of [process.stdout, process.stderr]) {
      jest.spyOn(stream, 'write').mockImplementation((part) => {
        written += String(part);
        return true;
      });
    }
  });
  afterEach(() => jest.restoreAllMocks());

  it.each(['log', 'warn', 'error', 'debug', 'fatal'] as const)('has a line for %s, whatever is in it', (level) => {
    new LeafLogger({ level: 'debug', format: 'json' })[level](HOSTILE, 'Test');
    expect(written.split('\n')).toHaveLength(2);
    expect(JSON.parse(written)).toMatchObject({ message: SEEN, context: 'Test' });
    written = '';
    new LeafLogger({ level: 'debug', format: 'pretty' })[level](HOSTILE, 'Test');
    expect(written.split('\n')).toHaveLength(2);
    expect(written).toContain(SEEN);
  });

  it('indents a stack, so that no line of it is taken for one of the log', () => {
    new LeafLogger({ level: 'error', format: 'pretty' }).error(
      'failed',
      `Error: a\n[Leaf] 1 LOG\u001b[0m\n    at b`,
      'Test',
    );
    expect(written).toContain('Error: a\n    [Leaf] 1 LOG\\u001b[0m\n        at b\n');
  });

  it('leaves all other text as it is', () => {
    const text = 'Grüße, 世界 👩‍👩‍👧 "quoted" \\n';
    expect(visible(text)).toBe(text);
  });
});
