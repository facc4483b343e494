const JDBC_URL = /^jdbc:(mysql|mariadb|postgresql):\/\/([^/?]*)\/([^/?]*)(?:\?(.*))?$/;
const HOST = /^(?:\[[\dA-Fa-f:.]+\]|[\w.-]*)(?::\d{1,5})?$/;

/** What the drivers call their TLS modes, in lower case, and the `sslmode` of ours that is as strict or stricter. */
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
 * The URL of our database settings for a JDBC URL. Of its parameters those about TLS are kept, and user and password
 * when they are not given beside it.
 *
 * @throws Error whose message says what the URL must be, without showing it
 */
export function databaseUrlOf(jdbcUrl: string, given: Credentials): string {
  const [, driver, authority, database, query = ''] = JDBC_URL.exec(jdbcUrl) ?? [];
  if (driver === undefined || authority === undefined || database === undefined) {
    throw new Error('must be jdbc:mysql://host:3306/database, or the same with mariadb or postgresql');
  }
  if (/[,()]/.test(authority)) {
    throw new Error('names several hosts; name one: the primary, or the proxy in front of them');
  }
  if (authority.includes('@')) {
    throw new Error('has user and password before the host; give them in leaf.jdbc.username and leaf.jdbc.password');
  }
  if (!HOST.test(authority)) throw new Error('must name a host, or host:port');
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

/** Never weaker than what the parameters ask of their driver. */
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
