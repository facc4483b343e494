import { isTag } from '@leaf-ids/core/internal';
import { parseJson } from './parsers';
import { TOKEN_NAME } from './tokens';

/** The tags and the rate of a taker token. */
export interface TakerRule {
  /** Tags and snowflake keys; `*` is every other one. */
  readonly tags: readonly string[];
  /** IDs per second for each entry of `tags`; unlimited if undefined. */
  readonly idsPerSecond?: number;
}

/** Rules by the name of the token; `*` applies to all others. */
export type TakerRules = Readonly<Record<string, TakerRule>>;

export const ANY = '*';
const MAX_IDS_PER_SECOND = 1_000_000_000;
const WANTED =
  'must be a JSON object of taker: quota, for example {"billing":{"tags":["order"],"idsPerSecond":1000},"*":{"idsPerSecond":100}}';

/** @throws Error whose message says what is allowed */
export function takerQuotas(value: string): TakerRules {
  const entries = Object.entries(parseJson(value, WANTED));
  if (entries.length === 0) throw new Error(WANTED);
  const bad = entries.find(([name]) => name !== ANY && !TOKEN_NAME.test(name));
  if (bad !== undefined) throw new Error('must have names of 1 to 32 letters, digits, "_" or "-", or "*"');
  return Object.fromEntries(entries.map(([name, quota]) => [name, ruleOf(name, quota)]));
}

function ruleOf(name: string, quota: unknown): TakerRule {
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
