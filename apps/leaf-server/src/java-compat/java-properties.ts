import { LeafError, messageOf } from '@leaf-ids/core';
import type { FileSettings } from '../config/environment';
import { databaseUrlOf } from './jdbc-url';
import type { Parser } from '../config/parsers';
import { parseProperties, type Property } from './properties-syntax';
import { VARIABLES } from '../config/variables';

interface Key {
  readonly variable: string;
  /** Throws an Error whose message says what is allowed. */
  readonly convert: Parser<string>;
}

/** The value as it is, once the parser of the variable has agreed. */
function checked(parse: Parser<unknown>): Parser<string> {
  return (value) => {
    parse(value);
    return value;
  };
}

/** The Java service reads whatever is not "true" as false; a slip of the pen must not switch a mode off. */
const flag: Parser<string> = (value) => {
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase();
  throw new Error('must be true or false');
};

const KEYS: Readonly<Record<string, Key>> = {
  'leaf.name': { variable: 'LEAF_NAME', convert: checked(VARIABLES.LEAF_NAME.parse) },
  'leaf.segment.enable': { variable: 'LEAF_SEGMENT_ENABLED', convert: flag },
  'leaf.snowflake.enable': { variable: 'LEAF_SNOWFLAKE_ENABLED', convert: flag },
  'leaf.snowflake.mode': {
    variable: 'LEAF_SNOWFLAKE_REGISTRY',
    convert: checked(VARIABLES.LEAF_SNOWFLAKE_REGISTRY.parse),
  },
  'leaf.snowflake.port': {
    variable: 'LEAF_ADVERTISE_PORT',
    convert: checked(VARIABLES.LEAF_ADVERTISE_PORT.parse),
  },
  'leaf.snowflake.zk.address': { variable: 'LEAF_ZOOKEEPER', convert: checked(VARIABLES.LEAF_ZOOKEEPER.parse) },
  'leaf.snowflake.local.workIdMap': {
    variable: 'LEAF_LOCAL_WORKERS',
    convert: checked(VARIABLES.LEAF_LOCAL_WORKERS.parse),
  },
};
const JDBC = { url: 'leaf.jdbc.url', username: 'leaf.jdbc.username', password: 'leaf.jdbc.password' };
/** Empty is something else than absent here: the Java service does not fall back to its default. */
const NEVER_EMPTY = ['leaf.name', 'leaf.segment.enable', 'leaf.snowflake.enable', 'leaf.snowflake.mode'];
/** Without a dotted name it may be the rest of a secret. */
const SHOWABLE = /^[a-z]\w*(?:\.[\w-]+)+$/i;

/**
 * Reads a `leaf.properties` of the Java service or its fork.
 *
 * @param text the file, decoded as ISO-8859-1 as Java does
 * @param fileName for messages
 * @throws LeafError `LEAF_CONFIG_INVALID` listing every fault with its line
 */
export function readJavaProperties(text: string, fileName: string): FileSettings {
  const { entries, faults: syntaxFaults } = parseProperties(text);
  const faults = [...syntaxFaults];
  const env: Record<string, string> = { LEAF_SNOWFLAKE_REGISTRY: 'zk_normal' };
  const convert = (key: string, { line }: Property, variable: string, converted: () => string): void => {
    try {
      env[variable] = converted();
    } catch (error) {
      faults.push(`line ${line}: ${key} ${messageOf(error)}`);
    }
  };
  for (const [key, { variable, convert: parse }] of Object.entries(KEYS)) {
    const entry = entries.get(key);
    // White space at the end of the name is part of the ZooKeeper path.
    const value = key === 'leaf.name' ? entry?.value : entry?.value.trim();
    if (entry === undefined || value === undefined || (value === '' && !NEVER_EMPTY.includes(key))) continue;
    convert(key, entry, variable, () => parse(value));
  }
  const url = entries.get(JDBC.url);
  if (url !== undefined && url.value.trim() !== '') {
    const username = entries.get(JDBC.username)?.value;
    const password = entries.get(JDBC.password)?.value;
    convert(JDBC.url, url, 'LEAF_DATABASE_URL', () =>
      checked(VARIABLES.LEAF_DATABASE_URL.parse)(databaseUrlOf(url.value.trim(), { username, password })),
    );
  }
  if (faults.length > 0) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The properties file ${fileName} is invalid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
  const warnings = [...unknownKeys(entries), ...gaps(env)];
  return { env: { ...nameOf(env), ...env }, warnings: warnings.map((warning) => `${fileName}: ${warning}`) };
}

function unknownKeys(entries: ReadonlyMap<string, Property>): string[] {
  const known = new Set([...Object.keys(KEYS), ...Object.values(JDBC)]);
  const unknown = [...entries].filter(([key]) => !known.has(key));
  const names = unknown.map(([key, { line }]) => (SHOWABLE.test(key) ? `${key} (line ${line})` : `line ${line}`));
  return names.length > 0 ? [`not known here and ignored: ${names.join(', ')}.`] : [];
}

/** The Java service keeps its records below /snowflake/null then: another name would give its worker IDs out again. */
function nameOf(env: Readonly<Record<string, string>>): Record<string, string> {
  return isOn(env, 'SNOWFLAKE') && usesZookeeper(env) ? { LEAF_NAME: 'null' } : {};
}

/** What the file leaves open although the Java service cannot do without it, or does otherwise. */
function gaps(env: Readonly<Record<string, string>>): string[] {
  const warnings: string[] = [];
  const snowflake = isOn(env, 'SNOWFLAKE');
  const registry = env.LEAF_SNOWFLAKE_REGISTRY;
  if (env.LEAF_DATABASE_URL === undefined && (isOn(env, 'SEGMENT') || (snowflake && registry === 'mysql'))) {
    warnings.push(
      'leaf.jdbc.url is missing; without LEAF_DATABASE_URL the embedded database is used, where every tag begins anew.',
    );
  }
  if (!snowflake) return warnings;
  if (usesZookeeper(env) && env.LEAF_NAME === undefined) {
    warnings.push('leaf.name is missing; the Java service uses the name "null" then, and so does LEAF_NAME.');
  }
  if (registry === 'local' && env.LEAF_LOCAL_WORKERS === undefined) {
    warnings.push('leaf.snowflake.local.workIdMap is missing; give each server its worker ID in LEAF_LOCAL_WORKERS.');
  }
  if (registry === 'zk_recycle') {
    warnings.push(
      'zk_recycle keeps its records elsewhere than the Java service, whose servers may have the same worker IDs: stop all of them first.',
    );
  }
  return warnings;
}

/** Both modes are on unless switched off, here as in the Java service. */
function isOn(env: Readonly<Record<string, string>>, mode: 'SEGMENT' | 'SNOWFLAKE'): boolean {
  return env[`LEAF_${mode}_ENABLED`] !== 'false';
}

function usesZookeeper({ LEAF_SNOWFLAKE_REGISTRY: registry = '' }: Readonly<Record<string, string>>): boolean {
  return registry.startsWith('zk_');
}
