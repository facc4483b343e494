import type { IdRange } from '@leaf-ids/core';
import { runsOf } from '../support/issued-ids';

export type Version = 'old' | 'new';

/** What an answer contains, by the set of IDs that must all differ. */
export interface Given {
  readonly space: string;
  readonly ranges: readonly IdRange[];
}

/** One way to ask for IDs of a tag. */
export interface Question {
  /** Undefined: snowflake IDs. */
  readonly tag: string | undefined;
  readonly path: string;
  readonly read: (body: string) => Given;
}

interface TagBody {
  readonly tag: string;
  readonly [setting: string]: unknown;
}

/** Numbers without gaps: one number for each document. */
export const GAPLESS = 'receipt';
/** Its IDs ascend over all servers. */
export const STRICT = 'ticket';
/** Without settings: the Java service can use it. */
export const PLAIN = 'order';
/** Begins again each day. */
export const PERIODIC = 'invoice';
export const MAX = 3000n;
const SHARE = { of: 3, remainder: 1, block: 100 };

/** The body of `POST /api/tags` for each tag, as one kind of settings after the other was added to Leaf. */
export const TAGS: readonly TagBody[] = [
  { tag: PLAIN, step: 100 },
  { tag: 'limited', step: 10, max: String(MAX) },
  { tag: STRICT, step: 100, order: 'strict' },
  { tag: PERIODIC, step: 50, reset: 'daily', zone: 'UTC' },
  { tag: 'shared', step: 100, interleave: SHARE },
  { tag: 'weekly', step: 50, reset: 'weekly', zone: 'UTC' },
  { tag: GAPLESS, order: 'gapless', reset: 'yearly', zone: 'UTC' },
];

export const one = (tag: string): Question => ({
  tag,
  path: `/api/segment/get/${tag}`,
  read: (text) => ({ space: `tag ${tag}`, ranges: runsOf([BigInt(text)]) }),
});
const range = (tag: string, size: number): Question => ({
  tag,
  path: `/api/segment/range/${tag}?size=${size}`,
  read: (text) => ({ space: `tag ${tag}`, ranges: rangesOf(text) }),
});
const inPeriod = (tag: string, size: number): Question => ({
  tag,
  path: `/api/segment/period/${tag}?size=${size}`,
  read: (text) => {
    const { period } = JSON.parse(text) as { period: string };
    return { space: `period ${tag}@${period}`, ranges: rangesOf(text) };
  },
});
const snowflakes: Question = {
  tag: undefined,
  path: '/api/snowflake/batch/test?size=100',
  read: (text) => ({ space: 'snowflake', ranges: runsOf((JSON.parse(text) as { ids: string[] }).ids.map(BigInt)) }),
};

/** What a caller asks for in turn; the gapless tag is asked for apart from these. */
export const QUESTIONS: readonly Question[] = [
  one(PLAIN),
  snowflakes,
  one(STRICT),
  range(PLAIN, 70),
  inPeriod(PERIODIC, 3),
  snowflakes,
  range('shared', 150),
  one('limited'),
  range(STRICT, 30),
  inPeriod('weekly', 2),
];

/** What is wrong with the IDs of an answer, whoever else got some. */
export function faultOf({ tag }: Question, { ranges }: Given): string | undefined {
  const wrong = ranges.find(
    ({ from, to }) =>
      to < from || (tag === 'limited' && to > MAX) || (tag === 'shared' && !(isShare(from) && isShare(to))),
  );
  return wrong && `${tag} gave ${wrong.from} to ${wrong.to}, against its settings`;
}

function isShare(id: bigint): boolean {
  return ((id - 1n) / BigInt(SHARE.block)) % BigInt(SHARE.of) === BigInt(SHARE.remainder);
}

function rangesOf(text: string): IdRange[] {
  const { ranges } = JSON.parse(text) as { ranges: { from: string; to: string }[] };
  return ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) }));
}
