import type { LeafError } from '@leaf-ids/core';
import type { ServerAddress } from './dialect';
import { invalidUrl, readParameters, type UrlParameters } from './url-parameters';

/** What the URLs of one kind of server may say. */
export interface ServerUrlRules {
  /** One of them, for errors. */
  readonly example: string;
  readonly port: number;
  /** Whether any of several hosts may be the primary. */
  readonly severalHosts: boolean;
  /** Parameters beside those of every server. */
  readonly parameters: readonly string[];
}

/** Scheme, user, hosts and the rest. */
const PARTS = /^([a-z]+:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/** @throws LeafError `LEAF_CONFIG_INVALID`, without the URL's secrets */
export function parseServerUrl(text: string, rules: ServerUrlRules): ServerAddress {
  const [, scheme = '', user = '', places = '', rest = ''] = PARTS.exec(text) ?? [];
  const texts = places.split(',').map((place) => scheme + user + place + rest);
  if (!texts.every((one) => URL.canParse(one))) throw invalidUrl(`must be ${rules.example}`);
  const urls = texts.map((one) => new URL(one));
  const hosts = urls.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? rules.port : Number(port),
  }));
  const [url, first] = [urls[0], hosts[0]];
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '');
  if (url === undefined || first === undefined || hosts.some(({ host }) => host === '')) throw nameless(rules);
  if (database === '' || database.includes('/')) throw nameless(rules);
  const parameters = readParameters(url.searchParams, rules.parameters);
  if (urls.length > 1 && (!rules.severalHosts || parameters.socket !== undefined)) {
    throw invalidUrl('has several hosts, which only PostgreSQL may have, and not with socket');
  }
  const { passwordFile, passwordCommand } = parameters;
  const passwords = [url.password || undefined, passwordFile, passwordCommand].filter((one) => one !== undefined);
  if (passwords.length > 1) {
    throw invalidUrl('has more than one of a password, passwordFile and passwordCommand; leave out all but one');
  }
  const description = urls.map(({ hostname }, index) => `${hostname}:${hosts[index]?.port ?? ''}`).join(',');
  return {
    ...first,
    hosts,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...parameters,
    description: describe(`${scheme.toLowerCase()}${description}/${database}`, parameters),
  };
}

function nameless({ example }: ServerUrlRules): LeafError {
  return invalidUrl(`must name a host and a database: ${example}`);
}

/** With what tells two databases of one server apart. */
function describe(address: string, { schema, socket }: UrlParameters): string {
  const parts = Object.entries({ schema, socket }).filter(([, value]) => value !== undefined);
  const text = parts.map(([name, value]) => `${name}=${value}`).join('&');
  return text === '' ? address : `${address}?${text}`;
}
