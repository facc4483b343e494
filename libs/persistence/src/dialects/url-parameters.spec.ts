import { DEFAULT_LIMITS } from '../connections/connection-source';
import { parseDatabaseUrl } from '../database/database-url';
import { limitsOf } from './url-parameters';

describe('parameters of a database URL', () => {
  it.each([
    ['mysql://u@db/leaf', { connections: undefined, timeoutMs: undefined, schema: undefined, socket: undefined }],
    ['mysql://u@db/leaf?connections=1&timeout=100', { connections: 1, timeoutMs: 100 }],
    ['postgres://u@db/leaf?connections=64&timeout=60000', { connections: 64, timeoutMs: 60_000 }],
    ['postgres://u@db/leaf?schema=My%20ids', { schema: 'My ids' }],
    ['mysql://u@db/leaf?passwordFile=/run/token', { password: '', passwordFile: '/run/token' }],
    ['mysql://u@db/leaf?passwordCommand=print%20it', { password: '', passwordCommand: 'print it' }],
    ['postgres://u@db/leaf?target_session_attrs=read-write', { readWrite: true, hosts: [{ host: 'db', port: 5432 }] }],
    [
      'postgres://u:p@h1:1,[::1],h3:3/leaf',
      {
        ...{ host: 'h1', port: 1, description: 'postgres://h1:1,[::1]:5432,h3:3/leaf' },
        hosts: [
          { host: 'h1', port: 1 },
          { host: '::1', port: 5432 },
          { host: 'h3', port: 3 },
        ],
      },
    ],
    ['mysql://u@db/leaf?socket=/run/mysqld.sock', { socket: '/run/mysqld.sock' }],
    [
      'mysql://u@db/leaf?sslmode=require&sslcert=c.pem&sslkey=k.pem',
      { tls: 'on', clientCertificate: { certificate: 'c.pem', key: 'k.pem' } },
    ],
  ])('%s is read', (url, target) => {
    expect(parseDatabaseUrl(url)).toMatchObject(target);
  });

  it.each([
    ...['connections=0', 'connections=65', 'connections=8.0', 'connections=', 'connections=-1', 'connections=0x8'],
    ...['timeout=99', 'timeout=60001', 'timeout=2s', 'socket=run/db', 'socket=/run/db&sslmode=require', 'schema='],
    ...['sslcert=/c.pem&sslmode=require', 'sslkey=/k.pem&sslmode=require', 'sslcert=/c.pem&sslkey=/k.pem'],
    ...['passwordFile=/run/token', 'passwordFile=', 'Timeout=1000', 'target_session_attrs=any'],
  ])('%s is refused', (parameters) => {
    expect(() => parseDatabaseUrl(`postgres://u:secret@db/leaf?${parameters}`)).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.not.stringContaining('secret') as string,
      }),
    );
  });

  it.each([
    'u:secret#1@db/leaf',
    'u:secret/1@db/leaf',
    'u:secret?1@db/leaf',
    'u:1#secret@db/leaf',
    'u:secret%@db/leaf',
  ])('%s is told to be percent-encoded', (rest) => {
    const message = expect.stringMatching(/^(?!.*secret).*not percent-encoded: write # as %23/) as string;
    for (const scheme of ['mysql', 'postgres']) {
      expect(() => parseDatabaseUrl(`${scheme}://${rest}`)).toThrow(
        expect.objectContaining({ code: 'LEAF_CONFIG_INVALID', message }),
      );
    }
  });

  it('an @ in a parameter does not belong to a password', () => {
    expect(parseDatabaseUrl('mysql://db/leaf?passwordFile=/run/a@b')).toMatchObject({ passwordFile: '/run/a@b' });
  });

  it.each([
    ...['postgres://u:secret@h1,,h2/leaf', 'postgres://u:secret@h1:x,h2/leaf', 'postgres://u:secret@,h2/leaf'],
    ...['postgres://u:secret@h1,h2/leaf?socket=/run', 'mysql://u:secret@h1,h2/leaf', 'mysql://u:secret@h1:1,h2:2/leaf'],
    ...['postgres://u:secret@h1,h2', 'mysql://u@h/leaf?target_session_attrs=read-write'],
  ])('the hosts of %s are refused', (url) => {
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.not.stringContaining('secret') as string,
      }),
    );
  });

  it('accepts a schema only for PostgreSQL', () => {
    expect(() => parseDatabaseUrl('mysql://u@db/leaf?schema=ids')).toThrow('has the unknown parameter schema');
  });

  it('describes a database by the parameters that distinguish it', () => {
    const { description } = parseDatabaseUrl('postgres://u:secret@db/leaf?timeout=500&schema=ids&socket=/run');
    expect(description).toBe('postgres://db:5432/leaf?schema=ids&socket=/run');
  });

  it('overrides the given limits', () => {
    const limits = limitsOf(parseDatabaseUrl('mysql://u@db/leaf?connections=2&timeout=500'), DEFAULT_LIMITS);
    expect(limits).toEqual({ ...DEFAULT_LIMITS, connections: 2, connectMs: 500, queryMs: 500 });
    expect(limitsOf(parseDatabaseUrl('mysql://u@db/leaf'), DEFAULT_LIMITS)).toEqual(DEFAULT_LIMITS);
  });
});
