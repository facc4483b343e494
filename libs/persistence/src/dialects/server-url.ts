import type { ServerAddress } from './dialect';
import { invalidUrl, readParameters, type UrlParameters } from './url-parameters';

/** What the URLs of one kind of server may say. */
export interface ServerUrlRules {
  /** One of them, for errors. */
  readonly example: string;
  readonly port: number;
  /** Parameters beside those of every server. */
  readonly parameters: readonly string[];
}

/** @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets */
export function parseServerUrl(text: string, rules: ServerUrlRules): ServerAddress {
  if (!URL.canParse(text)) throw invalidUrl(`must be ${rules.example}`);
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (url.hostname === '' || database === '' || database.includes('/')) {
    throw invalidUrl(`must name a host and a database: ${rules.example}`);
  }
  const port = url.port === '' ? rules.port : Number(url.port);
  const parameters = readParameters(url.searchParams, rules.parameters);
  if (parameters.passwordFile !== undefined && url.password !== '') {
    throw invalidUrl('has a password and passwordFile; leave out one of them');
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...parameters,
    description: describe(`${scheme}://${url.hostname}:${port}/${database}`, parameters),
  };
}

/** With what tells two databases of one server apart. */
function describe(address: string, { schema, socket }: UrlParameters): string {
  const parts = Object.entries({ schema, socket }).filter(([, value]) => value !== undefined);
  const text = parts.map(([name, value]) => `${name}=${value}`).join('&');
  return text === '' ? address : `${address}?${text}`;
}
