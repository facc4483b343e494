import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { clock, connect, PATIENT } from '../../../../test/support/contract/sql-stores';
import { until } from '../../../../test/support/until';
import { parseDatabaseUrl } from '../database/database-url';
import { FIRST_TAG } from '../database/open-database';
import { Shard } from './shard';

describe('one of several databases', () => {
  let directory: string;
  let url: string;
  /** What was reported, oldest first. */
  let reports: string[];
  const opened: Shard[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-shard-'));
    url = `sqlite:${join(directory, 'data', 'leaf.sqlite')}`;
    reports = [];
  });
  afterEach(async () => {
    for (const shard of opened.splice(0)) await shard.close();
    // An attempt that is under way may still make its file.
    await rm(directory, { recursive: true, maxRetries: 10 });
  });

  function shardOf(onOpenFailed: () => void = () => undefined): Shard {
    const options = {
      ...{ name: 'a', target: parseDatabaseUrl(url), migrate: true, limits: PATIENT },
      failover: { gapSteps: 10, onFailover: () => reports.push('moved') },
      onCloseProblem: () => undefined,
      onCreated: () => reports.push('created'),
      onOpenFailed: () => {
        reports.push('failed');
        onOpenFailed();
      },
    };
    const shard = new Shard(options, clock, systemRandom);
    opened.push(shard);
    return shard;
  }

  it('is opened later when the first attempt fails', async () => {
    // A file where the directory has to be.
    await writeFile(join(directory, 'data'), '');
    const shard = shardOf(() => rmSync(join(directory, 'data')));
    await expect(shard.start()).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
    await until('the database is open', () => shard.dataSource !== undefined);
    expect(await shard.stores.tags.list()).toStrictEqual([]);
    expect(reports).toEqual(['failed', 'created']);
    expect(shard.created).toBe(true);
  });

  it('is created once', async () => {
    const first = shardOf();
    expect(first.created).toBe(false);
    await first.start();
    expect(first.created).toBe(true);
    const second = shardOf();
    await second.start();
    expect(second.created).toBe(false);
    expect(reports).toEqual(['created']);
  });

  it('is not opened after it was closed, and reports no failure', async () => {
    const shard = shardOf();
    const started = shard.start().catch(() => undefined);
    await shard.close();
    await started;
    expect(() => shard.stores).toThrow(expect.objectContaining({ code: 'LEAF_STORE_UNAVAILABLE' }));
    expect(reports).not.toContain('failed');
  });

  it('moves its tags forward only after its list allows it', async () => {
    await mkdir(join(directory, 'data'));
    const database = await connect(parseDatabaseUrl(url));
    await database.query("INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, 'another', 10)");
    await database.destroy();
    const shard = shardOf();
    await shard.start();
    const refusal = new LeafError('LEAF_STORE_UNAVAILABLE', 'taken out');
    shard.beforeMove = () => Promise.reject(refusal);
    const { segments } = shard.stores;
    await expect(segments.allocate(FIRST_TAG, 1)).rejects.toBe(refusal);
    expect(reports).toStrictEqual([]);
    shard.beforeMove = () => Promise.resolve();
    expect((await segments.allocate(FIRST_TAG, 1)).from).toBeGreaterThan(100n);
    expect(reports).toEqual(['moved']);
  });
});
