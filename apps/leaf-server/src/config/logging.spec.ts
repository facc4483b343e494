import { Writable } from 'node:stream';
import { visible } from '@leaf-ids/core/internal';
import { LeafLogger, LogOutput } from './logging';
import type { LogConfig } from './leaf-config';

/** A message with a line of its own, a colour, and text that runs backwards. */
const HOSTILE = 'tag "a"\r\n[Leaf] 1 LOG all is well\u001b[31m\u009b0m\u2028\u202ehsifniw\0\x7f';
const SEEN = 'tag "a"\\u000d\\u000a[Leaf] 1 LOG all is well\\u001b[31m\\u009b0m\\u2028\\u202ehsifniw\\u0000\\u007f';

function loggerOf(config: Partial<LogConfig> = {}, output?: LogOutput): LeafLogger {
  return new LeafLogger({ level: 'debug', format: 'json', time: 'iso', ...config }, undefined, output);
}

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
    loggerOf()[level](HOSTILE, 'Test');
    expect(written.split('\n')).toHaveLength(2);
    expect(JSON.parse(written)).toMatchObject({ message: SEEN, context: 'Test' });
    written = '';
    loggerOf({ format: 'pretty' })[level](HOSTILE, 'Test');
    expect(written.split('\n')).toHaveLength(2);
    expect(written).toContain(SEEN);
  });

  it.each(['json', 'pretty'] as const)('escapes the context, the fields and the stack in %s', (format) => {
    const logger = loggerOf({ format });
    logger.warn({ message: 'changed', tag: HOSTILE, after: { description: HOSTILE } }, HOSTILE);
    expect(written.split('\n')).toHaveLength(2);
    logger.error('failed', `Error: ${HOSTILE}`, 'Test');
    expect(written.replaceAll(/\x1b\[\d+m/g, '')).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
  });

  it('names variables in place of the options in messages of the libraries', () => {
    const logger = loggerOf();
    logger.warn('Check the option migrate.', 'Test');
    logger.warn({ message: 'failed', failed: 'Check the option accept.' }, 'Test');
    logger.error('failed', 'Error: Check the option database.', 'Test');
    expect(written.match(/(Check [^".]+)/g)).toEqual([
      'Check LEAF_DATABASE_MIGRATE',
      'Check LEAF_DATABASE_ACCEPT',
      'Check LEAF_DATABASE_URL or LEAF_DATABASE_URLS',
    ]);
  });

  it('has the standard names of the levels', () => {
    const logger = loggerOf();
    for (const level of ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const) logger[level]('a', 'Test');
    const levels = written.match(/"level":"\w+"/g);
    expect(levels?.map((level) => level.slice(9, -1))).toEqual(['info', 'warn', 'error', 'debug', 'debug', 'fatal']);
  });

  it('writes nothing below its level', () => {
    const logger = loggerOf({ level: 'warn' });
    logger.log('a', 'Test');
    logger.debug('a', 'Test');
    expect(written).toBe('');
  });

  it.each([
    ['iso', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
    ['epoch', /^\d{13}$/],
  ] as const)('has the time as %s', (time, expected) => {
    loggerOf({ time }).log('a', 'Test');
    expect(String((JSON.parse(written) as { time: string | number }).time)).toMatch(expected);
  });

  it('has the properties of an object as fields', () => {
    loggerOf().log({ message: 'create tag', who: 'ops', after: { step: 5 } }, 'Audit');
    expect(JSON.parse(written)).toMatchObject({
      level: 'info',
      context: 'Audit',
      message: 'create tag',
      who: 'ops',
      after: { step: 5 },
    });
    written = '';
    loggerOf({ format: 'pretty' }).log({ message: 'create tag', who: 'ops' }, 'Audit');
    expect(written).toMatch(/create tag \{"who":"ops"\}\n$/);
  });

  it('indents a stack, so that no line of it is taken for one of the log', () => {
    loggerOf({ format: 'pretty' }).error('failed', `Error: a\n[Leaf] 1 LOG\u001b[0m\n    at b`, 'Test');
    expect(written).toContain('Error: a\n    [Leaf] 1 LOG\\u001b[0m\n        at b\n');
  });

  it('leaves all other text as it is', () => {
    const text = 'Grüße, 世界 👩‍👩‍👧 "quoted" \\n';
    expect(visible(text)).toBe(text);
  });
});

describe('the output of the log', () => {
  function outputWith(write: (done: (error?: Error) => void) => void): LogOutput {
    const stream = new Writable({ autoDestroy: false, write: (_chunk, _encoding, done) => write(done) });
    return new LogOutput(stream as unknown as NodeJS.WriteStream);
  }

  it('counts lines that cannot be written, and throws nothing', async () => {
    let failures = 0;
    const output = outputWith((done) => {
      failures++;
      done(new Error('write EPIPE'));
    });
    const logger = loggerOf({}, output);
    logger.log('a', 'Test');
    logger.log('b', 'Test');
    await new Promise(setImmediate);
    expect(failures).toBeGreaterThan(0);
    expect(logger.dropped).toBe(2);
  });

  it('drops lines when the reader has stopped, instead of buffering without limit', () => {
    const output = outputWith(() => undefined);
    const line = 'x'.repeat(1000);
    for (let lines = 0; lines < 3000; lines++) output.write(line);
    expect(output.dropped).toBeGreaterThan(1900);
    expect(output.dropped).toBeLessThan(2000);
  });
});
