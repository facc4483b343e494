import { FakeClock } from '../../clock/fake-clock';
import { LeafError } from '../../errors/leaf-error';
import type { Allocation, SegmentStore } from '../tags/segment-store';
import { StrictLine } from './strict-tag';

/** How long each statement takes, in milliseconds. */
const STATEMENT_MS = 100;
const RANGE: Allocation = { from: 1n, to: 1n, step: 1 };
const REFUSAL = new LeafError('LEAF_TAG_NOT_FOUND', 'No.');

type Results = (Allocation | LeafError)[];

describe('StrictLine', () => {
  const clock = new FakeClock();
  let results: () => Promise<Results>;
  let statements: (readonly { readonly tag: string }[])[];
  let line: StrictLine;

  const tagOf = (tag: string, isWaiting = true) => ({
    failing: false,
    begin: () =>
      isWaiting ? { tag, size: 1, end: (_: number, answer: Promise<unknown>) => settled(answer) } : undefined,
  });
  const [one, other] = [tagOf('one'), tagOf('other')];

  beforeEach(() => {
    statements = [];
    const allocateAll: SegmentStore['allocateAll'] = async (requests) => {
      statements.push(requests);
      await clock.sleep(STATEMENT_MS);
      return results();
    };
    line = new StrictLine({ allocateAll }, clock);
  });

  /** Sends a statement for each of `groups`; returns once all are answered. */
  async function send(...groups: (typeof one)[][]): Promise<void> {
    for (const tags of groups) {
      for (const tag of tags) line.enter(tag);
      await clock.advance(0);
    }
    await clock.advance(STATEMENT_MS);
  }

  it.each<[string, () => Promise<Results>, number]>([
    ['that gave IDs to all of their tags', () => Promise.resolve([RANGE, RANGE]), 1],
    ['that gave IDs to one of their tags', () => Promise.resolve([RANGE, REFUSAL]), 1],
    ['that were all refused', () => Promise.resolve([REFUSAL, REFUSAL]), 2],
    ['that failed', () => Promise.reject(REFUSAL), 2],
  ])('sends the next ones at even distances only after statements %s', async (_, outcome, sentAtOnce) => {
    results = outcome;
    await send([one, other], [one, other]);
    await send([one, other]);
    const before = statements.length;
    for (const tag of [one, other]) {
      line.enter(tag);
      await clock.advance(0);
    }
    expect(statements.length - before).toBe(sentAtOnce);
    await clock.advance(10 * STATEMENT_MS);
    expect(statements.length - before).toBe(2);
  });

  it('sends nothing for tags whose callers are gone', async () => {
    results = () => Promise.resolve([RANGE]);
    await send([tagOf('gone', false)]);
    expect(statements).toStrictEqual([]);
    await send([tagOf('gone', false), one]);
    expect(statements).toEqual([[{ tag: 'one', size: 1 }]]);
  });
});

async function settled(answer: Promise<unknown>): Promise<void> {
  await answer.catch(() => undefined);
}
