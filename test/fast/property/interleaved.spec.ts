import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { type Allocation, type IdRange, LeafError, type SegmentStore, type TagStore } from '@leaf-ids/core';
import { createSegmentStore, createTagStore, type LeafDataSource, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { runs } from '../../support/runs';

const TAG = 'shared';
const RUNS = runs(40);

/** One of the databases that share the tag, and two servers on it. */
interface Share {
  readonly dataSource: LeafDataSource;
  readonly stores: readonly SegmentStore[];
  readonly tags: TagStore;
}

type Act = (share: Share, held: IdRange[]) => Promise<unknown>;

const allocate: Act = async ({ stores }, held) => held.push(rangeOf(await stores[0]!.allocate(TAG, 7)));
const allocateElsewhere: Act = async ({ stores }, held) =>
  held.push(rangeOf(await stores[1]!.allocate(TAG, undefined)));
const giveBack: Act = async ({ stores }, held) => {
  const range = held.at(-1);
  if (range !== undefined && (await stores[0]!.giveBack(TAG, range))) held.pop();
};
const giveBackPart: Act = async ({ stores }, held) => {
  const range = held.at(-1);
  if (range === undefined || range.from === range.to) return;
  expect(await stores[0]!.giveBack(TAG, { from: range.from + 1n, to: range.to })).toBe(false);
};
const raise =
  (minimum: number): Act =>
  async ({ stores, tags }) => {
    await stores[0]!.raise(TAG, BigInt(minimum));
    expect((await tags.find(TAG))!.maxId).toBeGreaterThanOrEqual(BigInt(minimum));
  };
/** As the guard does, which knows of no blocks. */
const moveByGap =
  (gap: number): Act =>
  ({ dataSource }) =>
    dataSource.query(`UPDATE leaf_alloc SET next_id = next_id + ${gap}`);
const change =
  (by: number): Act =>
  async ({ tags }) => {
    const { maxId } = (await tags.find(TAG))!;
    await tags.change(TAG, { step: 3, maxId: maxId + BigInt(by) });
  };

function rangeOf({ from, to }: Allocation): IdRange {
  return { from, to };
}

describe('a tag that several databases share', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-interleaved-'))));
  afterEach(() => rm(directory, { recursive: true }));

  async function openShare(name: string): Promise<Share> {
    const dataSource = await connect(parseDatabaseUrl(`sqlite:${join(directory, name)}`));
    const stores = [createSegmentStore(dataSource, FAILOVER), createSegmentStore(dataSource, FAILOVER)];
    await dataSource.query('DELETE FROM leaf_alloc');
    return { dataSource, stores, tags: createTagStore(dataSource) };
  }

  it('gives no ID twice, however its rows are moved', async () => {
    const shares = [await openShare('a'), await openShare('b'), await openShare('c')];
    const recreate =
      (of: number, remainder: number, block: number): Act =>
      async ({ tags }) => {
        await tags.remove(TAG);
        await tags.create({ tag: TAG, step: 10, interleave: { of, remainder, block } });
      };
    const acts = (of: number, block: number): fc.Arbitrary<readonly [number, string, Act]>[] => {
      const share = fc.nat(of - 1);
      const named = (name: string, act: fc.Arbitrary<Act>): fc.Arbitrary<readonly [number, string, Act]> =>
        fc.tuple(share, fc.constant(name), act);
      return [
        named('allocate', fc.constantFrom(allocate, allocateElsewhere)),
        named('giveBack', fc.constantFrom(giveBack, giveBackPart)),
        named('raise', fc.integer({ min: 1, max: 400 }).map(raise)),
        named('gap', fc.integer({ min: 1, max: 40 }).map(moveByGap)),
        named('change', fc.integer({ min: 0, max: 40 }).map(change)),
        share.map((index) => [index, 'recreate', recreate(of, index, block)] as const),
      ];
    };
    const runs = fc
      .tuple(fc.integer({ min: 2, max: 3 }), fc.integer({ min: 1, max: 12 }))
      .chain(([of, block]) =>
        fc.tuple(fc.constant({ of, block }), fc.array(fc.oneof(...acts(of, block)), { maxLength: 40 })),
      );
    await fc.assert(
      fc.asyncProperty(runs, async ([{ of, block }, steps]) => {
        const held = shares.map((): IdRange[] => []);
        for (const [remainder, { dataSource, tags }] of shares.slice(0, of).entries()) {
          await dataSource.query('DELETE FROM leaf_alloc');
          await dataSource.query('DELETE FROM leaf_deleted_tag');
          await tags.create({ tag: TAG, step: 10, interleave: { of, remainder, block } });
        }
        for (const [index, , act] of steps) await act(shares[index]!, held[index]!);
        const given = held.flatMap((ranges) => ranges.flatMap(({ from, to }) => [from, to]));
        const sorted = held.flat().sort((a, b) => (a.from < b.from ? -1 : 1));
        for (const [index, range] of sorted.entries()) {
          expect(range.to - range.from + 1n).toBe(BigInt(block));
          if (index > 0) expect(range.from).toBeGreaterThan(sorted[index - 1]!.to);
        }
        expect(new Set(given).size).toBe(block === 1 ? given.length / 2 : given.length);
      }),
      { numRuns: RUNS },
    );
    for (const { dataSource } of shares) await dataSource.destroy();
  });

  it('is used up with its last whole block', async () => {
    const { tags, stores, dataSource } = await openShare('a');
    await tags.create({ tag: TAG, step: 1, maxId: 2n ** 63n - 21n, interleave: { of: 2, remainder: 0, block: 10 } });
    const codes: unknown[] = [];
    for (let count = 0; count < 3; count++) {
      codes.push(
        await stores[0]!.allocate(TAG, 1).then(
          () => 'given',
          (error: unknown) => (error as LeafError).code,
        ),
      );
    }
    expect(codes.at(-1)).toBe('LEAF_TAG_EXHAUSTED');
    await dataSource.destroy();
  });
});
