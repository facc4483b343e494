import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import type { BitLayoutOptions } from '@leaf-ids/core';
import { accepted, isTag, messageOf, type Rule, workerRangeRule } from '@leaf-ids/core/internal';
import { databaseUrlRule, DURABILITY_SETTINGS, parseDatabaseUrl } from '@leaf-ids/persistence';
import {
  localWorkersRule,
  parseEtcdAuth,
  parseEtcdEndpoints,
  parseZookeeperAddress,
  parseZookeeperAuth,
} from '@leaf-ids/registry';

/** Turns the text of a variable into its value. Throws an Error whose message says what is allowed. */
export type Parser<T> = (text: string) => T;

export interface Variable<T, Default = string | null | undefined> extends Required<Marks> {
  /** Undefined: none. Null: it depends on other settings, and `meaning` says how. */
  readonly default: Default;
  readonly parse: Parser<T>;
  readonly meaning: string;
}

interface Marks {
  /** Path of the option of the libraries that it sets, or several: their messages name it. */
  readonly option?: string | readonly string[];
  /** The value is never shown. */
  readonly secret?: boolean;
  /**
   * An empty value is refused: the default would use another database, registry, address or layout, where IDs can be
   * issued twice, or would remove the protection of the ID routes.
   */
  readonly neverEmpty?: boolean;
  /** Earlier names of the variable, which still set it. */
  readonly formerly?: readonly string[];
}

type DefaultText<Default> = Default extends null | undefined ? Default : string;

export function variable<T, Default extends string | number | boolean | null | undefined>(
  fallback: Default,
  parse: Parser<T>,
  meaning: string,
  { option = [], secret = false, neverEmpty = false, formerly = [] }: Marks = {},
): Variable<T, DefaultText<Default>> {
  const text = (fallback ?? undefined) === undefined ? fallback : String(fallback);
  return { default: text as DefaultText<Default>, parse, meaning, option, secret, neverEmpty, formerly };
}

export function text(pattern: RegExp, allowed: string): Parser<string> {
  return (value) => {
    if (!pattern.test(value)) throw new Error(`must be ${allowed}`);
    return value;
  };
}

export const path = text(/^[^\0]+$/, 'a path');

export function integer(low: number, high: number): Parser<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < low || number > high) {
      throw new Error(`must be a whole number from ${low} to ${high}`);
    }
    return number;
  };
}

/** More than any machine has cores for, and few enough for the worker IDs. */
const MAX_PROCESSES = 128;

/** `auto` is one for each core that this process may use. */
export function processes(value: string): number {
  if (value === 'auto') return Math.min(availableParallelism(), MAX_PROCESSES);
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= MAX_PROCESSES) return number;
  throw new Error(`must be auto or a whole number from 1 to ${MAX_PROCESSES}`);
}

/** IDs of a millisecond in the largest layout. */
const MAX_SEQUENCE = 2 ** 22;

/** `full` is more than any layout has. */
export function sequenceStart(value: string): number {
  const number = value === 'full' ? MAX_SEQUENCE : Number(value);
  if (value === 'full' || (/^\d+$/.test(value) && number <= MAX_SEQUENCE)) return number;
  throw new Error(`must be full or a whole number from 0 to ${MAX_SEQUENCE}`);
}

export function ratio(value: string): number {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number <= 0 || number > 1) throw new Error('must be above 0 and at most 1');
  return number;
}

export function flag(value: string): boolean {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new Error('must be true or false');
}

export function oneOf<const T extends string>(...values: T[]): Parser<T> {
  return (value) => {
    const found = values.find((allowed) => allowed === value);
    if (found === undefined)
      throw new Error(`must be ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values)}`);
    return found;
  };
}

/** IP addresses and CIDR blocks, separated by commas. */
export function addresses(value: string): readonly string[] {
  return value.split(',').map((item) => {
    const [address = '', bits, ...rest] = item.trim().split('/');
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const isBlock = bits === undefined || (/^(?!0)\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (most >= 0 && bits === '0') {
      throw new Error(
        `must not contain ${item.trim()}: every client could name an address of its own. Name the proxies`,
      );
    }
    if (most < 0 || !isBlock || rest.length > 0) {
      throw new Error('must be IP addresses or CIDR blocks, separated by commas, for example 10.0.0.0/8,::1');
    }
    return item.trim();
  });
}

const durabilitySetting = oneOf(...DURABILITY_SETTINGS);

/** Settings of a database, separated by commas. */
export function durabilitySettings(value: string): readonly string[] {
  return value.split(',').map((name) => durabilitySetting(name.trim()));
}

/** The text itself, if the rule of its option accepts it. */
function valid(rule: Rule): Parser<string> {
  return (value) => {
    refuse(rule, value);
    return value;
  };
}

function refuse(rule: Rule, value: unknown): void {
  const [found] = rule(value, '');
  if (found !== undefined) throw new Error(found.fault);
}

/** @throws Error also for a database that forgets its IDs at each restart */
export function databaseUrl(url: string): string {
  refuse(databaseUrlRule, url);
  const target = parseDatabaseUrl(url);
  if ('file' in target && target.file === undefined)
    throw new Error('must not be in memory, or each restart would issue the same IDs again: use sqlite:<file>');
  return url;
}

const SHARD = /^[A-Za-z0-9_-]{1,32}$/;

/** A JSON object of name → URL. */
export function databaseUrls(value: string): Record<string, string> {
  const wanted = 'must be a JSON object of name: URL, for example {"a":"mysql://leaf@db-a/leaf"}';
  const map = jsonMap(value, wanted);
  if (Object.keys(map).length === 0) throw new Error(wanted);
  for (const [name, url] of Object.entries(map)) {
    if (!SHARD.test(name)) throw new Error('must have names of 1 to 32 letters, digits, "_" or "-"');
    try {
      databaseUrl(url);
    } catch (error) {
      throw new Error(`entry "${name}" ${messageOf(error)}`, { cause: error });
    }
  }
  return map;
}

/** A JSON object of tag → name of a database. */
export function tagMap(value: string): Record<string, string> {
  const map = jsonMap(value, 'must be a JSON object of tag: name of a database, for example {"order":"a"}');
  const bad = Object.keys(map).find((tag) => !isTag(tag));
  if (bad !== undefined) throw new Error(`has ${JSON.stringify(bad)}, which is not a valid tag`);
  return map;
}

function jsonMap(value: string, wanted: string): Record<string, string> {
  const map = parseJson(value, wanted);
  if (!Object.values(map).every((item) => typeof item === 'string')) throw new Error(wanted);
  return map as Record<string, string>;
}

export const zookeeperAddress = valid(accepted(parseZookeeperAddress));

export const zookeeperAuth = valid(accepted(parseZookeeperAuth));

export const etcdEndpoints = valid(accepted(parseEtcdEndpoints));

export const etcdAuth = valid(accepted(parseEtcdAuth));

/** Three bit counts, `time,worker,sequence`; that of the worker may be a sum, `data center+machine`. */
export function bits(value: string): Omit<BitLayoutOptions, 'epoch'> {
  const match = /^(\d{1,2}),(?:(\d{1,2})\+)?(\d{1,2}),(\d{1,2})$/.exec(value);
  if (match === null) {
    throw new Error('must be three bit counts, time,worker,sequence, for example 41,10,12, or 41,5+5,12');
  }
  const [timeBits = 0, datacenterBits = 0, machineBits = 0, sequenceBits = 0] = match
    .slice(1)
    .map((count: string | undefined) => Number(count ?? 0));
  const workerBits = datacenterBits + machineBits;
  return { timeBits, workerBits, sequenceBits, ...(datacenterBits > 0 && { datacenterBits }) };
}

/** A range of worker IDs: `96-127`. */
export const workerRange = valid(workerRangeRule);

/** A JSON object of `"ip:port"` → worker ID. */
export function workers(value: string): Record<string, number> {
  const wanted = 'must be a JSON object of "ip:port": worker ID, for example {"10.0.0.7:8080":0}';
  const entries = Object.entries(parseJson(value, wanted));
  if (entries.length === 0) throw new Error(wanted);
  for (const [instance, workerId] of entries) {
    if (instance !== '*' && !/^\S+:\d{1,5}$/.test(instance)) throw new Error(wanted);
    if (!Number.isSafeInteger(workerId) || (workerId as number) < 0) throw new Error(wanted);
  }
  const map = Object.fromEntries(entries) as Record<string, number>;
  refuse(localWorkersRule, map);
  return map;
}

/** @throws Error if the text is not a JSON object, or names a property twice, of which all but one would be ignored */
export function parseJson(value: string, wanted: string): Record<string, unknown> {
  let map: unknown;
  try {
    map = JSON.parse(value);
  } catch {
    throw new Error(wanted);
  }
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw new Error(wanted);
  const repeated = repeatedName(value);
  if (repeated !== undefined) throw new Error(`must not contain ${JSON.stringify(repeated)} twice`);
  return map as Record<string, unknown>;
}

/** A property name that one object of valid JSON has twice; undefined if there is none. */
function repeatedName(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    const names = open.at(-1);
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (text !== undefined && names !== undefined) {
      const name = JSON.parse(text) as string;
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}
