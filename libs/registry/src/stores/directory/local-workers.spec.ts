import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerRecord } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { withoutRights } from '../../../../../test/support/without-rights';
import { type ExclusiveLock, lockDirectory } from '../../file/exclusive-lock';
import { localWorkerBeside } from './local-workers';
import { formatRecord } from './worker-record-file';

const NOW = 1_700_000_000_000;

/** Counts the pauses, which take no time. */
class PausingClock extends FakeClock {
  pauses = 0;
  atPause: (pauses: number) => void = () => undefined;

  override sleep(): Promise<void> {
    this.atPause(++this.pauses);
    return Promise.resolve();
  }
}

describe('a server with the registry local beside an SQLite file', () => {
  let data: string;
  let clock: PausingClock;
  const locks: ExclusiveLock[] = [];

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'leaf-local-'));
    clock = new PausingClock(NOW);
  });
  afterEach(async () => {
    for (const lock of locks.splice(0)) lock.release();
    await rm(data, { recursive: true });
  });

  const placeOf = (name: string): string => join(data, 'leaf', name);
  const find = (all = false): Promise<string | undefined> => localWorkerBeside(join(data, 'leaf.sqlite'), clock, all);

  async function record(workerId: number, ceiling: number, name = `worker-${workerId}`): Promise<void> {
    const found: WorkerRecord = {
      ...{ instance: { ip: '10.0.0.7', port: 8080 }, leaseId: 'a', write: 1, ceiling, free: false },
    };
    await mkdir(placeOf(name), { recursive: true });
    await writeFile(join(placeOf(name), 'workerID.json'), formatRecord(workerId, found));
  }

  async function hold(name: string): Promise<ExclusiveLock> {
    const lock = (await lockDirectory(placeOf(name), 'a test'))!;
    locks.push(lock);
    return lock;
  }

  it('is not there without a record', async () => {
    expect(await localWorkerBeside(join(data, 'missing', 'leaf.sqlite'), clock, true)).toBeUndefined();
    await writeFile(join(data, 'leaf.sqlite'), '');
    await mkdir(placeOf('worker-3'), { recursive: true });
    await writeFile(placeOf('worker-4'), '');
    expect(await find(true)).toBeUndefined();
    // Another process that has just made the directory may hold it, and has reserved nothing yet.
    await hold('worker-3');
    expect(await find(true)).toBeUndefined();
    expect(clock.pauses).toBe(0);
  });

  it('is named until its reserved time has passed', async () => {
    await record(12, NOW);
    expect(await find()).toBe(
      `worker 12 of the registry local, reserved until ${new Date(NOW).toISOString()}: ${placeOf('worker-12')}`,
    );
    await clock.advance(1);
    expect(await find()).toBeUndefined();
  });

  it.each(['worker-3x', 'my-worker-3', 'worker-1234567890', 'other'])('is not in a directory %s', async (name) => {
    await record(3, NOW + 1000, name);
    expect(await find(true)).toBeUndefined();
  });

  it('is looked for in all directories', async () => {
    await record(3, NOW - 1);
    await cp(join(data, 'leaf'), join(data, 'another'), { recursive: true });
    await record(4, NOW + 1000);
    expect(await find()).toContain('worker 4 of the registry local');
  });

  it('counts as reserved for ever when its record cannot be read', async () => {
    await record(3, NOW - 1);
    await writeFile(join(placeOf('worker-3'), 'workerID.json'), 'torn');
    expect(await find()).toBe(`worker 3 of the registry local, whose record cannot be read: ${placeOf('worker-3')}`);
  });

  it('is unknown after a fault of the system', async () => {
    await mkdir(placeOf('worker-3'), { recursive: true });
    // Reading it fails with EIO.
    await symlink('/proc/self/mem', join(placeOf('worker-3'), 'workerID.json'));
    await expect(find()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    await writeFile(join(data, 'file'), '');
    await expect(localWorkerBeside(join(data, 'file', 'leaf.sqlite'), clock, false)).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });

  it('is not looked for in a directory of another user', async () => {
    await record(3, NOW + 1000);
    expect(await withoutRights(join(data, 'leaf'), () => find())).toBeUndefined();
  });

  it('that was suspended is found by its lock, if it is asked for', async () => {
    await record(3, NOW - 1);
    await hold('worker-3');
    expect(await find(false)).toBeUndefined();
    expect(clock.pauses).toBe(0);
    expect(await find(true)).toBe(`worker 3 of the registry local, held by a running server: ${placeOf('worker-3')}`);
    expect(clock.pauses).toBe(19);
  });

  it('is not taken for running while another process checks its lock', async () => {
    await record(3, NOW - 1);
    expect(await find(true)).toBeUndefined();
    expect(clock.pauses).toBe(0);
    const lock = await hold('worker-3');
    clock.atPause = (pauses) => {
      if (pauses === 2) lock.release();
    };
    expect(await find(true)).toBeUndefined();
    expect(clock.pauses).toBe(2);
    // The check leaves no lock.
    expect(await hold('worker-3')).toBeDefined();
  });
});
