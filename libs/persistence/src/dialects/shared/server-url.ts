import type { LeafError } from '@leaf-ids/core';
import type { ServerAddress } from './dialect';
import { invalidUrl, readParameters, type UrlParameters } from './url-parameters';

/** The rules for the URLs of one engine. */
export interface ServerUrlRules {
  /** An example URL for error messages. */
  readonly example: string;
  readonly port: number;
  /** Whether a URL may list several hosts. */
  readonly severalHosts: boolean;
  /** Parameters in addition to those of all engines. */
  readonly parameters: readonly string[];
}

/** Scheme, user, hosts and the rest. */
const PARTS = /^([a-z]+:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/** What follows the hosts, where an `@` may be in the value of a parameter. */
const DATABASE_FIRST = /^\/[^/?#@]*\?/;
const NOT_ENCODED =
  'has a user, password or database that is not percent-encoded: write # as %23, / as %2F, ? as %3F, @ as %40 and % as %25';

/** @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets */
export function parseServerUrl(text: string, rules: ServerUrlRules): ServerAddress {
  const [, scheme = '', user = '', places = '', rest = ''] = PARTS.exec(text) ?? [];
  const texts = places.split(',').map((place) => scheme + user + place + rest);
  if (user === '' && rest.includes('@') && !DATABASE_FIRST.test(rest)) throw invalidUrl(NOT_ENCODED);
  if (!texts.every((one) => URL.canParse(one))) throw invalidUrl(`must be ${rules.example}`);
  const urls = texts.map((one) => new URL(one));
  const hosts = urls.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? rules.port : Number(port),
  }));
  const [url, first] = [urls[0], hosts[0]];
  const database = decoded(url?.pathname.slice(1) ?? '');
  if (url === undefined || first === undefined || hosts.some(({ host }) => host === '')) throw nameless(rules);
  if (database === '' || database.includes('/')) throw nameless(rules);
  const parameters = readParameters(url.searchParams, rules.parameters);
  if (urls.length > 1 && (!rules.severalHosts || parameters.socket !== undefined)) {
    throw invalidUrl('has several hosts, which is only possible for PostgreSQL and without socket');
  }
  const { passwordFile, passwordCommand } = parameters;
  const passwords = [url.password || undefined, passwordFile, passwordCommand].filter((one) => one !== undefined);
  if (passwords.length > 1) {
    throw invalidUrl('has more than one of a password, passwordFile and passwordCommand; keep one of them');
  }
  const description = urls.map(({ hostname }, index) => `${hostname}:${hosts[index]?.port ?? ''}`).join(',');
  return {
    ...first,
    hosts,
    username: decoded(url.username),
    password: decoded(url.password),
    database,
    ...parameters,
    description: describe(`${scheme.toLowerCase()}${description}/${database}`, parameters),
  };
}

/** @throws LeafError `LEAF_CONFIG_INVALID` */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw invalidUrl(NOT_ENCODED, cause);
  }
}

function nameless({ example }: ServerUrlRules): LeafError {
  return invalidUrl(`must name a host and a database: ${example}`);
}

/** Appends the parameters that distinguish databases on one server. */
function describe(address: string, { schema, socket }: UrlParameters): string {
  const parts = Object.entries({ schema, socket }).filter(([, value]) => value !== undefined);
  const text = parts.map(([name, value]) => `${name}=${value}`).join('&');
  return text === '' ? address : `${address}?${text}`;
}
