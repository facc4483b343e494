import { DEFAULT_LIMITS } from '../../connections/connection-source';
import { parseDatabaseUrl } from '../../database/database-url';
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
    ['connections=0', 'has an invalid connections; use a whole number from 1 to 64'],
    ['connections=65', 'has an invalid connections; use a whole number from 1 to 64'],
    ['connections=8.0', 'has an invalid connections'],
    ['connections=08x', 'has an invalid connections'],
    ['connections=x8', 'has an invalid connections'],
    ['connections=-1', 'has an invalid connections'],
    ['connections=0x8', 'has an invalid connections'],
    ['connections=', 'has connections without a value'],
    ['timeout=99', 'has an invalid timeout; use a whole number from 100 to 60000'],
    ['timeout=60001', 'has an invalid timeout; use a whole number from 100 to 60000'],
    ['timeout=2s', 'has an invalid timeout'],
    ['socket=run/db', 'has a relative path as socket; use an absolute path'],
    ['socket=/run/db&sslmode=require', 'has both socket and sslmode; sockets do not use TLS, so remove sslmode'],
    ['schema=', 'has schema without a value'],
    ['sslcert=/c.pem&sslmode=require', 'has only one of sslcert and sslkey; set both'],
    ['sslkey=/k.pem&sslmode=require', 'has only one of sslcert and sslkey; set both'],
    ['sslcert=/c.pem&sslkey=/k.pem', 'has sslcert, which needs sslmode=verify-full or require'],
    ['sslrootcert=/ca.pem', 'has sslrootcert, which needs sslmode=verify-full'],
    ['sslrootcert=/ca.pem&sslmode=require', 'has sslrootcert, which needs sslmode=verify-full'],
    ['sslmode=maybe', 'has an unknown TLS mode: use sslmode=disable, require or verify-full'],
    ['passwordFile=/run/token', ''],
    ['passwordFile=', 'has passwordFile without a value'],
    ['Timeout=1000', 'has the unknown parameter Timeout; use one of sslmode, ssl, sslrootcert, sslcert, sslkey, '],
    [
      'target_session_attrs=any',
      'has an unsupported target_session_attrs; use read-write, because Leaf needs to write',
    ],
  ])('%s is refused', (parameters, fault) => {
    const read = (): unknown => parseDatabaseUrl(`postgres://u:secret@db/leaf?${parameters}`);
    expect(read).toThrow(fault);
    expect(read).toThrow(
      expect.objectContaining({
        code: 'LEAF_CONFIG_INVALID',
        message: expect.not.stringContaining('secret') as string,
      }),
    );
  });

  it.each([
    ['', 'off'],
    ['?sslmode=disable', 'off'],
    ['?ssl=false', 'off'],
    ['?sslmode=require', 'on'],
    ['?ssl=true', 'verify'],
    ['?sslmode=verify-ca', 'verify'],
    ['?sslmode=verify-full', 'verify'],
    ['?sslmode=disable&ssl=true', 'off'],
  ])('"%s" means TLS %s', (parameters, tls) => {
    expect(parseDatabaseUrl(`mysql://u@db/leaf${parameters}`)).toMatchObject({ tls });
  });

  it('lists the parameters that there are', () => {
    const own = 'connections, timeout, socket, passwordFile, passwordCommand';
    expect(() => parseDatabaseUrl('mysql://u@db/leaf?x=1')).toThrow(own);
    expect(() => parseDatabaseUrl('postgres://u@db/leaf?x=1')).toThrow(`${own}, `);
  });

  it('are undefined where the URL does not have them', () => {
    expect(parseDatabaseUrl('postgres://u@db/leaf')).toMatchObject({
      ...{ rootCertificate: undefined, clientCertificate: undefined, connections: undefined, timeoutMs: undefined },
      ...{ schema: undefined, socket: undefined, readWrite: false, passwordFile: undefined },
      ...{ passwordCommand: undefined },
    });
    const verified = 'postgres://u@db/leaf?sslmode=verify-full&sslrootcert=/ca.pem';
    expect(parseDatabaseUrl(verified)).toMatchObject({ tls: 'verify', rootCertificate: '/ca.pem' });
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
    expect(limitsOf(parseDatabaseUrl('mysql://u@db/leaf?connections=2'), DEFAULT_LIMITS)).toEqual({
      ...{ ...DEFAULT_LIMITS, connections: 2 },
    });
    // A file has none.
    expect(limitsOf(parseDatabaseUrl('sqlite:leaf.sqlite'), DEFAULT_LIMITS)).toBe(DEFAULT_LIMITS);
  });
});
