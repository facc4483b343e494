import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { databaseUrlOf } from './jdbc-url';

const nobody = { username: undefined, password: undefined };

describe('databaseUrlOf', () => {
  it.each([
    ['jdbc:mysql://db:3307/leaf', 'mysql://db:3307/leaf'],
    ['jdbc:mysql://db/leaf?', 'mysql://db/leaf'],
    ['jdbc:mariadb://10.0.0.7/leaf', 'mariadb://10.0.0.7/leaf'],
    ['jdbc:postgresql://db.example.org:5432/leaf', 'postgresql://db.example.org:5432/leaf'],
    ['jdbc:mysql://[fe80::1]:3306/leaf', 'mysql://[fe80::1]:3306/leaf'],
    ['jdbc:mysql:///leaf', 'mysql://localhost/leaf'],
    ['jdbc:mysql://:3307/leaf', 'mysql://localhost:3307/leaf'],
    ['jdbc:mysql://db/my%20leaf', 'mysql://db/my%20leaf'],
    [
      'jdbc:mysql://db/leaf?useUnicode=true&characterEncoding=utf8&autoReconnect=true&serverTimezone=GMT%2B8',
      'mysql://db/leaf',
    ],
  ])('turns %s into %s', (jdbc, url) => {
    expect(databaseUrlOf(jdbc, nobody)).toBe(url);
    expect(() => parseDatabaseUrl(url)).not.toThrow();
  });

  it.each([
    ['useSSL=true', 'verify-full'],
    ['useSSL=true&requireSSL=true', 'verify-full'],
    ['useSSL=TRUE&verifyServerCertificate=false', 'require'],
    ['useSSL=true&verifyServerCertificate=true', 'verify-full'],
    ['useSSL=false', 'disable'],
    ['useSSL=false&requireSSL=true', 'disable'],
    ['requireSSL=true', 'require'],
    ['verifyServerCertificate=true', 'verify-full'],
    ['sslMode=DISABLED&useSSL=true', 'disable'],
    ['sslMode=PREFERRED', 'require'],
    ['sslMode=REQUIRED', 'require'],
    ['sslMode=VERIFY_CA', 'verify-ca'],
    ['sslMode=VERIFY_IDENTITY', 'verify-full'],
    ['sslMode=trust', 'require'],
    ['sslmode=verify-full', 'verify-full'],
    ['sslmode=prefer', 'require'],
    ['ssl=true', 'verify-full'],
    ['ssl', 'verify-full'],
  ])('keeps what %s asks of TLS', (query, sslmode) => {
    const url = databaseUrlOf(`jdbc:mysql://db/leaf?useUnicode=true&${query}`, nobody);
    expect(url).toBe(`mysql://db/leaf?sslmode=${sslmode}`);
    expect(() => parseDatabaseUrl(url)).not.toThrow();
  });

  it.each(['requireSSL=false', 'verifyServerCertificate=false'])('ignores %s', (query) => {
    expect(databaseUrlOf(`jdbc:mysql://db/leaf?${query}`, nobody)).toBe('mysql://db/leaf');
  });

  it('encodes any user and password', () => {
    const given = { username: 'l/e:f@', password: "p:/?#[]@!$&'()*+,;=% é中 " };
    expect(parseDatabaseUrl(databaseUrlOf('jdbc:mysql://db/leaf', given))).toMatchObject(given);
    expect(databaseUrlOf('jdbc:mysql://db/leaf', { ...nobody, username: 'leaf' })).toBe('mysql://leaf@db/leaf');
  });

  it('uses the user and password of the URL when none are given separately', () => {
    const jdbc = 'jdbc:postgresql://db/leaf?user=a&password=b%26c';
    expect(databaseUrlOf(jdbc, nobody)).toBe('postgresql://a:b%26c@db/leaf');
    expect(databaseUrlOf(jdbc, { username: 'x', password: 'y' })).toBe('postgresql://x:y@db/leaf');
  });

  it.each([
    ['mysql://db/leaf', /jdbc:mysql:/],
    ['jdbc:oracle:thin:@db:1521:leaf', /jdbc:mysql:/],
    ['jdbc:mysql:replication://a,b/leaf', /jdbc:mysql:/],
    ['jdbc:mysql://db', /jdbc:mysql:/],
    ['jdbc:mysql://a:3306,b:3306/leaf', /several hosts/],
    ['jdbc:mysql://address=(host=a)(port=1)/leaf', /several hosts/],
    ['jdbc:mysql://root:secret@db/leaf', /leaf\.jdbc\.username/],
    ['jdbc:mysql://d b/leaf', /host/],
    ['jdbc:mysql://db:secret/leaf', /host/],
    ['jdbc:mysql://db/leaf?sslMode=secret', /sslMode/],
  ])('refuses %s without showing it', (jdbc, message) => {
    expect(() => databaseUrlOf(jdbc, nobody)).toThrow(message);
    expect(() => databaseUrlOf(jdbc, nobody)).not.toThrow(/secret/);
  });
});
