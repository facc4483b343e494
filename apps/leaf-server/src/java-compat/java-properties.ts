import { readFileSync } from 'node:fs';
import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';
import type { FileSettings } from '../config/environment';
import type { Parser } from '../config/parsers';
import { VARIABLES } from '../config/variables';
import { databaseUrlOf } from './jdbc-url';

/**
 * Reads the settings in a `leaf.properties` file of the Java service.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readPropertiesFile(file: string): FileSettings {
  let text: string;
  try {
    // Java reads .properties files as ISO-8859-1.
    text = readFileSync(file, 'latin1');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `Cannot read the file in LEAF_PROPERTIES_FILE: ${messageOf(error)}. Set it to a leaf.properties file that this user can read.`,
      { cause: error },
    );
  }
  return readJavaProperties(text, file);
}

interface Key {
  readonly variable: string;
  /** Throws an Error whose message says which values are valid. */
  readonly convert: Parser<string>;
}

/** Validates the value with the parser of the variable and returns it unchanged. */
function checked(parse: Parser<unknown>): Parser<string> {
  return (value) => {
    parse(value);
    return value;
  };
}

/** Stricter than the Java service, which reads any value except "true" as false: a typo must not disable a mode. */
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
/** Keys for which the Java service does not replace an empty value by its default. */
const NEVER_EMPTY = ['leaf.name', 'leaf.segment.enable', 'leaf.snowflake.enable', 'leaf.snowflake.mode'];
/** Keys that a warning can show. A key without a dot can be part of a secret. */
const SHOWABLE = /^[a-z]\w*(?:\.[\w-]+)+$/i;

/**
 * Reads a `leaf.properties` of the Java service or its fork.
 *
 * @param text the file, decoded as ISO-8859-1 as Java does
 * @param fileName the file name for error messages
 * @throws LeafError `LEAF_CONFIG_INVALID` listing every error with its line
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
    // Trailing white space is part of the ZooKeeper path.
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
  return names.length > 0 ? [`Unknown properties, ignored: ${names.join(', ')}.`] : [];
}

/** Without `leaf.name` the Java service uses /snowflake/null. Any other name would assign its worker IDs again. */
function nameOf(env: Readonly<Record<string, string>>): Record<string, string> {
  return isOn(env, 'SNOWFLAKE') && usesZookeeper(env) ? { LEAF_NAME: 'null' } : {};
}

/** Warnings about missing settings that the Java service requires, and about settings that behave differently here. */
function gaps(env: Readonly<Record<string, string>>): string[] {
  const warnings: string[] = [];
  const snowflake = isOn(env, 'SNOWFLAKE');
  const registry = env.LEAF_SNOWFLAKE_REGISTRY;
  if (env.LEAF_DATABASE_URL === undefined && (isOn(env, 'SEGMENT') || (snowflake && registry === 'mysql'))) {
    warnings.push(
      'leaf.jdbc.url is missing. Set it or LEAF_DATABASE_URL: otherwise Leaf uses the embedded database, where every tag starts over.',
    );
  }
  if (!snowflake) return warnings;
  if (usesZookeeper(env) && env.LEAF_NAME === undefined) {
    warnings.push('leaf.name is missing. LEAF_NAME is set to "null", the name that the Java service uses.');
  }
  if (registry === 'local' && env.LEAF_LOCAL_WORKERS === undefined) {
    warnings.push('leaf.snowflake.local.workIdMap is missing. Set LEAF_LOCAL_WORKERS to the worker ID of each server.');
  }
  if (registry === 'zk_recycle') {
    warnings.push(
      'zk_recycle does not read the records of the Java service, so both can assign the same worker IDs. Stop all Java servers first.',
    );
  }
  return warnings;
}

/** Both modes are on by default, as in the Java service. */
function isOn(env: Readonly<Record<string, string>>, mode: 'SEGMENT' | 'SNOWFLAKE'): boolean {
  return env[`LEAF_${mode}_ENABLED`] !== 'false';
}

function usesZookeeper({ LEAF_SNOWFLAKE_REGISTRY: registry = '' }: Readonly<Record<string, string>>): boolean {
  return registry.startsWith('zk_');
}

/** One entry of a `.properties` file. */
interface Property {
  readonly value: string;
  /** Line on which the entry starts, from 1. */
  readonly line: number;
}

interface Properties {
  /** If a key occurs more than once, the last entry wins, as in Java. */
  readonly entries: ReadonlyMap<string, Property>;
  /** Each with its line but without the invalid text, which can be a secret. */
  readonly faults: readonly string[];
}

interface LogicalLine {
  readonly text: string;
  readonly line: number;
}

/** The key ends at the first unescaped `=`, `:` or white space. One separator and the value follow. */
const ENTRY = /^((?:\\[^]|[^\\=: \t\f])*)[ \t\f]*(?:[=:][ \t\f]*)?([^]*)$/;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|([^]))/g;
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/** Parses the format of `java.util.Properties`. Trailing white space is part of the value. */
export function parseProperties(text: string): Properties {
  const entries = new Map<string, Property>();
  const faults: string[] = [];
  for (const { text: entry, line } of logicalLines(text)) {
    const [, key = '', value = ''] = ENTRY.exec(entry) ?? [];
    try {
      entries.set(unescape(key), { value: unescape(value), line });
    } catch {
      faults.push(`line ${line}: \\u must be followed by four hexadecimal digits; write a backslash as \\\\`);
    }
  }
  return { entries, faults };
}

/** Skips comments and blank lines. A line that ends in an unescaped backslash continues on the next line. */
function* logicalLines(text: string): Generator<LogicalLine> {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/^[ \t\f]+/, ''));
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let joined = lines[index] ?? '';
    if (joined === '' || joined.startsWith('#') || joined.startsWith('!')) continue;
    while (continues(joined)) joined = joined.slice(0, -1) + (lines[++index] ?? '');
    yield { text: joined, line };
  }
}

function continues(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line);
}

function unescape(text: string): string {
  return text.replace(ESCAPE, (_, hex: string | undefined, character = '') => {
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (character === 'u') throw new Error('malformed \\u');
    return CONTROLS[character as string] ?? (character as string);
  });
}
