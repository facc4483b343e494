import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeaseHolder } from '@leaf/core';
import { LocalWorkerRegistry } from './local-worker-registry';
import { notWritten } from './worker-record';

const holder: LeaseHolder = { ip: '10.0.0.7', port: 8080, leaseId: 'a' };
const propose = (recorded: number): number => recorded + 1000;

describe('LocalWorkerRegistry', () => {
  let directory: string;
  let registry: LocalWorkerRegistry;
  const opened: LocalWorkerRegistry[] = [];

  function open(workers: Record<string, number> = { '*': 3 }): LocalWorkerRegistry {
    const next = new LocalWorkerRegistry(workers, directory);
    opened.push(next);
    return next;
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-local-'));
    registry = open();
  });

  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    await rm(directory, { recursive: true, force: true });
  });

  const file = (workerId = 3): string => join(directory, `worker-${workerId}`, 'workerID.json');

  it('keeps the keys of the Java service', async () => {
    await registry.acquire(holder, () => 5000);
    const record: unknown = JSON.parse(await readFile(file(), 'utf8'));
    expect(record).toMatchObject({ ip: '10.0.0.7', port: '8080', workId: 3, timestamp: 5000 });
  });

  it('prefers the entry of the instance to the one for any', async () => {
    const claim = await open({ '*': 1, '10.0.0.7:8080': 2 }).acquire(holder, propose);
    expect(claim.workerId).toBe(2);
  });

  it('refuses an instance that nobody listed', async () => {
    await expect(open({ '10.0.0.8:8080': 0 }).acquire(holder, propose)).rejects.toMatchObject({
      code: 'LEAF_WORKER_UNASSIGNED',
    });
  });

  it('names the process that holds the worker', async () => {
    await registry.acquire(holder, propose);
    const second = open().acquire({ ...holder, port: 9090, leaseId: 'b' }, propose);
    await expect(second).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await expect(second).rejects.toThrow(`10.0.0.7:8080, process ${process.pid}`);
  });

  it('lets another instance take over what is free, above its ceiling', async () => {
    await registry.acquire(holder, () => 5000);
    await registry.close();
    const claim = await open().acquire({ ...holder, ip: '10.0.0.8', leaseId: 'b' }, propose);
    expect(claim).toMatchObject({ workerId: 3, previousCeiling: 5000, ceiling: 6000 });
  });

  it.each([
    ['empty', ''],
    ['torn', '{"ip":"10.0.0.7","por'],
    ['null', 'null'],
    ['a list', '[]'],
    ["another worker's", '{"ip":"10.0.0.7","port":"8080","workId":4,"timestamp":1}'],
    ['without a time', '{"ip":"10.0.0.7","port":"8080","workId":3}'],
    ['with a time that is text', '{"ip":"10.0.0.7","port":"8080","workId":3,"timestamp":"1"}'],
    ['with a time before all times', '{"ip":"10.0.0.7","port":"8080","workId":3,"timestamp":-1}'],
  ])('refuses a record that is %s, leaves it and frees the lock', async (_, text) => {
    await registry.acquire(holder, propose);
    await registry.close();
    await writeFile(file(), text);
    await expect(open().acquire(holder, propose)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
    expect(await readFile(file(), 'utf8')).toBe(text);
    await rm(file());
    expect(await open().acquire(holder, () => 1)).toMatchObject({ previousCeiling: 0 });
  });

  it('refuses a record that cannot be read', async () => {
    await mkdir(file(), { recursive: true });
    await expect(registry.acquire(holder, propose)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
    await rm(file(), { recursive: true });
    expect(await registry.acquire(holder, () => 1)).toMatchObject({ previousCeiling: 0 });
  });

  it('writes nothing and frees the lock when the proposal throws', async () => {
    await registry.acquire(holder, () => 5000);
    await registry.close();
    const refusing = open().acquire(holder, () => {
      throw new Error('no');
    });
    await expect(refusing).rejects.toThrow('no');
    expect(await open().acquire(holder, propose)).toMatchObject({ previousCeiling: 5000 });
  });

  it('has lost the lease when the directory was replaced under it', async () => {
    const claim = await registry.acquire(holder, propose);
    await rename(join(directory, 'worker-3'), join(directory, 'moved'));
    const other = await open().acquire({ ...holder, leaseId: 'b' }, propose);
    expect(other.workerId).toBe(3);
    await expect(registry.extend(claim, 9000)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
  });

  it('has lost the lease when the directory was removed under it', async () => {
    const claim = await registry.acquire(holder, propose);
    await rm(join(directory, 'worker-3'), { recursive: true });
    await expect(registry.extend(claim, 9000)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
  });

  it('says that the file cannot be written, and goes on when it can', async () => {
    const claim = await registry.acquire(holder, () => 5000);
    // A directory in the place of the temporary file is an obstacle even for root.
    const obstacle = `${file()}.tmp`;
    await mkdir(obstacle);
    await expect(registry.extend(claim, 6000)).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ timestamp: 5000 });
    await rm(obstacle, { recursive: true });
    expect(await registry.extend(claim, 7000)).toMatchObject({ ceiling: 7000 });
  });

  it('tells a file system that is read-only from a disk that may have room again', () => {
    const fault = (code: string): unknown => notWritten(file(), Object.assign(new Error(code), { code }));
    expect(fault('EROFS')).toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE', message: expect.stringContaining(file()) });
    expect(fault('ENOSPC')).toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE', cause: { code: 'ENOSPC' } });
  });

  it('takes nothing for a lock that is none', async () => {
    await mkdir(join(directory, 'worker-3'));
    await writeFile(join(directory, 'worker-3', 'worker.lock'), 'a text '.repeat(1000));
    await expect(registry.acquire(holder, propose)).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
  });

  it('names the directory that cannot be used', async () => {
    await writeFile(join(directory, 'worker-3'), 'a file');
    await expect(registry.acquire(holder, propose)).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
    await expect(registry.acquire(holder, propose)).rejects.toThrow(join(directory, 'worker-3'));
  });
});
