import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { isTag } from '@leaf-ids/core/internal';
import { parseJson } from './parsers';

/** The tags and the rate of a client token. */
export interface ClientRule {
  /** Tags and snowflake keys; `*` is every other one. */
  readonly tags: readonly string[];
  /** IDs per second for each entry of `tags`; unlimited if undefined. */
  readonly idsPerSecond?: number;
}

/** Rules by the name of the token; `*` applies to all others. */
export type ClientRules = Readonly<Record<string, ClientRule>>;

export const ANY = '*';
const MAX_IDS_PER_SECOND = 1_000_000_000;
const WANTED =
  'must be a JSON object of client: quota, for example {"billing":{"tags":["order"],"idsPerSecond":1000},"*":{"idsPerSecond":100}}';

/** @throws Error whose message says what is allowed */
export function clientQuotas(value: string): ClientRules {
  const entries = Object.entries(parseJson(value, WANTED));
  if (entries.length === 0) throw new Error(WANTED);
  const bad = entries.find(([name]) => name !== ANY && !TOKEN_NAME.test(name));
  if (bad !== undefined) throw new Error('must have names of 1 to 32 letters, digits, "_" or "-", or "*"');
  return Object.fromEntries(entries.map(([name, quota]) => [name, ruleOf(name, quota)]));
}

function ruleOf(name: string, quota: unknown): ClientRule {
  if (typeof quota !== 'object' || quota === null || Array.isArray(quota)) throw new Error(WANTED);
  const { tags = [ANY], idsPerSecond, ...others } = quota as Record<string, unknown>;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new Error(`: "${name}" has the unknown property ${JSON.stringify(unknown)}`);
  if (!isTagList(tags)) throw new Error(`: "${name}" must have "tags" that is a list of tags or "*"`);
  if (idsPerSecond === undefined) return { tags };
  if (!isRate(idsPerSecond)) {
    throw new Error(`: "${name}" must have "idsPerSecond" that is a whole number from 1 to ${MAX_IDS_PER_SECOND}`);
  }
  return { tags, idsPerSecond };
}

function isTagList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string' && (tag === ANY || isTag(tag)));
}

function isRate(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_IDS_PER_SECOND;
}

/** A token with the name of the program or person that uses it. */
export interface NamedToken {
  /** The name in the audit log and the quotas. */
  readonly name: string;
  readonly token: string;
  /** Unix milliseconds from which on it is refused; undefined is never. */
  readonly expiresAt?: number;
}

export type TokenKind = 'admin' | 'client' | 'worker' | 'cluster';

/** Size of a generated token. */
const TOKEN_BYTES = 24;

export const TOKEN_NAME = /^[A-Za-z0-9_-]{1,32}$/;
/** What an `Authorization` header can carry (RFC 6750). It has no ":", "," or "@". */
const TOKEN = /^[A-Za-z0-9._~+/-]{16,256}={0,2}$/;
/** Least number of different characters, and least estimate of the entropy. */
const LEAST = { characters: 8, bits: 64 };
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z)?$/;

/**
 * One token, or several as `name:token[@expiry]` with commas between. No message shows what was given.
 *
 * @param kind purpose of the tokens, and the name of a single one without a name
 * @throws Error whose message says what is allowed
 */
export function parseTokens(kind: TokenKind, value: string): NamedToken[] {
  const entries = value.split(',').map((entry) => entry.trim());
  const tokens = entries.map((entry, index) => parse(entry, entries.length === 1 ? '' : `entry ${index + 1} `, kind));
  if (new Set(tokens.map(({ name }) => name)).size < tokens.length)
    throw new Error('must give each token its own name');
  if (new Set(tokens.map(({ token }) => token)).size < tokens.length) throw new Error('must not contain a token twice');
  return tokens;
}

/** Generates the admin token of a server that has none, and logs it. */
export function makeToken(): NamedToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  new Logger('Admin').log(
    `Changes need a token. LEAF_ADMIN_TOKEN is not set, so until this server stops it is: ${token}`,
  );
  return { name: 'admin', token };
}

function parse(entry: string, where: string, defaultName: string): NamedToken {
  const at = entry.indexOf('@');
  const secret = at < 0 ? entry : entry.slice(0, at);
  const colon = secret.indexOf(':');
  if (colon < 0 && where !== '') throw new Error(`${where}must be name:token, because there are several tokens`);
  const name = colon < 0 ? defaultName : secret.slice(0, colon);
  const token = secret.slice(colon + 1);
  if (!TOKEN_NAME.test(name)) throw new Error(`${where}must have a name of 1 to 32 letters, digits, "_" or "-"`);
  if (!TOKEN.test(token)) {
    throw new Error(`${where}must have a token of 16 to 256 letters, digits, "-", "_", ".", "~", "+" or "/"`);
  }
  if (new Set(token).size < LEAST.characters || entropyBits(token) < LEAST.bits) {
    throw new Error(
      `${where}must have a token that is hard to guess, with at least ${LEAST.characters} different characters and an estimated entropy of ${LEAST.bits} bits: openssl rand -hex 32 makes one`,
    );
  }
  return { name, token, ...(at < 0 ? {} : { expiresAt: parseTime(entry.slice(at + 1), where) }) };
}

/** Shannon's estimate, by how often each character occurs: an upper bound, since it does not know words or sequences. */
function entropyBits(token: string): number {
  const counts = new Map<string, number>();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits + count * Math.log2(token.length / count), 0);
}

function parseTime(text: string, where: string): number {
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts 30 February.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(text.slice(0, 10))) {
    throw new Error(`${where}must have an expiry like 2030-01-31 (its first moment, UTC) or 2030-01-31T18:00Z`);
  }
  return time;
}
