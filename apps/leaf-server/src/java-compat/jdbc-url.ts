const JDBC_URL = /^jdbc:(mysql|mariadb|postgresql):\/\/([^/?]*)\/([^/?]*)(?:\?(.*))?$/;
const HOST = /^(?:\[[\dA-Fa-f:.]+\]|[\w.-]*)(?::\d{1,5})?$/;

/** The TLS modes of the JDBC drivers in lower case, each with an `sslmode` of Leaf that is at least as strict. */
const TLS_MODES: Readonly<Record<string, string>> = {
  disable: 'disable',
  disabled: 'disable',
  allow: 'disable',
  prefer: 'require',
  preferred: 'require',
  require: 'require',
  required: 'require',
  trust: 'require',
  'verify-ca': 'verify-ca',
  verify_ca: 'verify-ca',
  'verify-full': 'verify-full',
  verify_identity: 'verify-full',
};

export interface Credentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

/**
 * Converts a JDBC URL to a database URL of Leaf. Of its parameters, only the TLS settings are kept, and the user and
 * password unless `given` has them.
 *
 * @throws Error whose message names the expected form without showing the URL
 */
export function databaseUrlOf(jdbcUrl: string, given: Credentials): string {
  const [, driver, authority, database, query = ''] = JDBC_URL.exec(jdbcUrl) ?? [];
  if (driver === undefined || authority === undefined || database === undefined) {
    throw new Error('must be jdbc:mysql://host:3306/database, or the same with mariadb or postgresql');
  }
  if (/[,()]/.test(authority)) {
    throw new Error('has several hosts; keep one: the primary, or the proxy in front of them');
  }
  if (authority.includes('@')) {
    throw new Error('has a user and password before the host; move them to leaf.jdbc.username and leaf.jdbc.password');
  }
  if (!HOST.test(authority)) throw new Error('must contain host or host:port after //');
  const parameters = lowerCased(new URLSearchParams(query));
  const host = /^(?::|$)/.test(authority) ? `localhost${authority}` : authority;
  const username = given.username ?? parameters.get('user') ?? '';
  const password = given.password ?? parameters.get('password') ?? '';
  const secret = password === '' ? '' : `:${encodeURIComponent(password)}`;
  const user = `${encodeURIComponent(username)}${secret}`;
  const name = encodeURIComponent(decodeURIComponent(database));
  const tls = tlsMode(parameters);
  return `${driver}://${user === '' ? '' : `${user}@`}${host}/${name}${tls === undefined ? '' : `?sslmode=${tls}`}`;
}

/** The TLS mode, at least as strict as the parameters require. */
function tlsMode(parameters: ReadonlyMap<string, string>): string | undefined {
  const named = parameters.get('sslmode');
  if (named !== undefined) {
    const mode = TLS_MODES[named.toLowerCase()];
    if (mode === undefined) throw new Error('has an unknown sslMode: use DISABLED, REQUIRED or VERIFY_IDENTITY');
    return mode;
  }
  const use = flagOf(parameters, 'usessl') ?? flagOf(parameters, 'ssl');
  const verify = flagOf(parameters, 'verifyservercertificate');
  if (use === false) return 'disable';
  if (use === true) return verify === false ? 'require' : 'verify-full';
  if (verify === true) return 'verify-full';
  return flagOf(parameters, 'requiressl') === true ? 'require' : undefined;
}

function flagOf(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const value = parameters.get(name);
  return value === undefined ? undefined : /^(?:true|yes|)$/i.test(value);
}

function lowerCased(parameters: URLSearchParams): Map<string, string> {
  return new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]));
}
