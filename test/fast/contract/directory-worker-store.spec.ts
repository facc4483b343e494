import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instance, StoredRegistry, WorkerRecord } from '@leaf-ids/core';
import { DirectoryWorkerStore } from '../../../libs/registry/src/stores/directory/directory-store';
import { notWritten } from '../../../libs/registry/src/stores/directory/worker-record-file';
import { workerStoreContract } from '../../support/contract/worker-store.contract';

const NOW = 1_700_000_000_000;
const REGISTRY: StoredRegistry = { document: undefined, origin: 'directory', version: '' };
const DOCUMENT = {
  ...{ id: 'f00', strategy: 'test', madeAt: NOW, layout: '41,10,12@1288834974657', highest: -1, generation: 1 },
  ...{ origin: 'directory', began: NOW, floor: 0 },
};
const INSTANCE = { ip: '10.0.0.7', port: 8080 };

let directory: string;
const opened: DirectoryWorkerStore[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-directory-'));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(directory, { recursive: true, force: true });
});

function open(workers: Record<string, number> = { '*': 3 }): DirectoryWorkerStore {
  const store = new DirectoryWorkerStore(workers, directory);
  opened.push(store);
  return store;
}

let shared: DirectoryWorkerStore | undefined;
workerStoreContract('a locked directory', {
  numbers: false,
  onePerInstance: false,
  reset: () => {
    shared = undefined;
    return Promise.resolve();
  },
  // The lock is exclusive, so two stores cannot use one worker.
  open: () => Promise.resolve((shared ??= open({ 'host-1.leaf-0:8080': 7, '*': 2 }))),
  remove: (what) =>
    rm(join(directory, what === 'document' ? 'registry.json' : `worker-${what.workerId}/workerID.json`)),
});

describe('a locked directory', () => {
  const file = (workerId = 3): string => join(directory, `worker-${workerId}`, 'workerID.json');
  const recordOf = (instance: Instance, more: Partial<WorkerRecord> = {}): WorkerRecord => {
    return { instance, leaseId: 'a', write: 1, ceiling: NOW, free: false, ...more };
  };

  it('keeps the keys of the Java service first', async () => {
    await open().create(REGISTRY, recordOf(INSTANCE), undefined);
    const text = await readFile(file(), 'utf8');
    expect(text).toMatch(/^\{"ip":"10\.0\.0\.7","port":"8080","workId":3,"timestamp":1700000000000,/);
    expect(JSON.parse(text)).toMatchObject({ leaseId: 'a', write: 1, free: false, pid: process.pid });
  });

  it('reads the records of its version 1 and of Java', async () => {
    await mkdir(join(directory, 'worker-3'));
    const java = { ip: '10.0.0.7', port: '8080', workId: 3, timestamp: NOW };
    for (const [more, leaseId] of [
      [{}, undefined],
      [{ leaseId: 'b', pid: 7 }, 'b'],
    ] as const) {
      await writeFile(file(), JSON.stringify({ ...java, ...more }));
      expect(await open().read(3)).toMatchObject({ record: recordOf(INSTANCE, { leaseId, write: 0 }) });
    }
  });

  it('prefers the entry of the instance to the wildcard, and refuses an instance that is not listed', async () => {
    const store = open({ '*': 1, '10.0.0.7:8080': 2 });
    expect(await store.create(REGISTRY, recordOf(INSTANCE), undefined)).toMatchObject({ workerId: 2 });
    await expect(open({ '10.0.0.8:8080': 0 }).list(INSTANCE)).rejects.toMatchObject({ code: 'LEAF_WORKER_UNASSIGNED' });
  });

  it('has no records before it is made', async () => {
    const store = new DirectoryWorkerStore({ '*': 3 }, join(directory, 'missing'));
    expect(await store.list()).toStrictEqual([]);
    expect(await store.readRegistry()).toMatchObject({ document: undefined, version: '' });
  });

  it('tells a worker that another process holds from one that nobody holds', async () => {
    const holder = open();
    await holder.create(REGISTRY, recordOf(INSTANCE), undefined);
    const other = open({ '*': 4 });
    expect([await holder.isUnheld(3), await other.isUnheld(3)]).toEqual([true, false]);
    await holder.close();
    expect(await other.isUnheld(3)).toBe(true);
    // The question leaves no lock.
    await open().create(REGISTRY, recordOf(INSTANCE), undefined);
  });

  it('names the process that holds the worker', async () => {
    const store = open();
    await store.create(REGISTRY, recordOf(INSTANCE), undefined);
    const second = open().list({ ...INSTANCE, port: 9090 });
    await expect(second).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    await expect(second).rejects.toThrow(`10.0.0.7:8080 (process ${process.pid})`);
    await rm(file());
    await expect(open().list(INSTANCE)).rejects.toThrow('held by another server');
    await store.close();
    expect(await open().list(INSTANCE)).toStrictEqual([]);
  });

  it('lists the record of the assigned worker, whichever instance wrote it', async () => {
    const first = open();
    const made = await first.create(REGISTRY, recordOf(INSTANCE), undefined);
    await first.close();
    const other = { ip: '10.0.0.8', port: 8080 };
    const [found] = await open().list(other);
    expect(found).toEqual(made);
    expect(await opened.at(-1)!.replace(found!, recordOf(other))).toMatchObject({ record: { instance: other } });
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
    ['with a broken count', '{"ip":"10.0.0.7","port":"8080","workId":3,"timestamp":1,"write":-1}'],
  ])('refuses a record that is %s, and leaves it', async (_, text) => {
    await mkdir(join(directory, 'worker-3'));
    await writeFile(file(), text);
    const store = open();
    await expect(store.list(INSTANCE)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
    await expect(store.create(REGISTRY, recordOf(INSTANCE), 3)).rejects.toMatchObject({
      code: 'LEAF_WORKER_FILE_INVALID',
    });
    expect(await readFile(file(), 'utf8')).toBe(text);
    expect(await store.list()).toStrictEqual([]);
    await rm(file());
    expect(await store.list(INSTANCE)).toStrictEqual([]);
  });

  it('refuses a record or a document that cannot be read', async () => {
    await mkdir(file(), { recursive: true });
    await expect(open().list(INSTANCE)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
    await writeFile(join(directory, 'registry.json'), '{}');
    await expect(open().readRegistry()).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
  });

  it('does not take a fault of the system for an invalid record', async () => {
    await mkdir(join(directory, 'worker-3'));
    // Reading it fails with EIO.
    await symlink('/proc/self/mem', file());
    const message = expect.stringMatching(/EIO.*Do not delete the file/) as string;
    const fault = { code: 'LEAF_REGISTRY_UNREACHABLE', message };
    await expect(open().list(INSTANCE)).rejects.toMatchObject(fault);
    await symlink('/proc/self/mem', join(directory, 'registry.json'));
    await expect(open().readRegistry()).rejects.toMatchObject(fault);
  });

  it.each(['replaced', 'removed'])('loses the lease when the directory was %s while it ran', async (what) => {
    const store = open();
    const made = await store.create(REGISTRY, recordOf(INSTANCE), undefined);
    if (what === 'removed') await rm(join(directory, 'worker-3'), { recursive: true });
    else await rename(join(directory, 'worker-3'), join(directory, 'moved'));
    if (what === 'replaced')
      expect(await open().create(REGISTRY, recordOf(INSTANCE), 3)).toMatchObject({ workerId: 3 });
    const write = store.replace(made!, recordOf(INSTANCE, { write: 2 }));
    await expect(write).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
  });

  it('rejects while the file cannot be written, and goes on afterwards', async () => {
    const store = open();
    const made = await store.create(REGISTRY, recordOf(INSTANCE), undefined);
    // A directory at the path of the temporary file fails the write even for root.
    const obstacle = `${file()}.tmp`;
    await mkdir(obstacle);
    const next = recordOf(INSTANCE, { write: 2 });
    await expect(store.replace(made!, next)).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    expect(await store.read(3)).toEqual(made);
    await rm(obstacle, { recursive: true });
    expect(await store.replace(made!, next)).toMatchObject({ record: next });
  });

  it('distinguishes a read-only file system from a full disk', () => {
    const fault = (code: string): unknown => notWritten(file(), Object.assign(new Error(code), { code }));
    expect(fault('EROFS')).toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE', message: expect.stringContaining(file()) });
    expect(fault('ENOSPC')).toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE', cause: { code: 'ENOSPC' } });
  });

  it('names a directory that cannot be used', async () => {
    await writeFile(join(directory, 'worker-3'), 'a file');
    await expect(open().list(INSTANCE)).rejects.toMatchObject({
      ...{ code: 'LEAF_DATA_DIR_UNUSABLE', cause: { code: 'EEXIST' } },
      message: expect.stringMatching(/^Cannot lock worker 3 in .*worker-3: .*EEXIST/) as string,
    });
    const within = new DirectoryWorkerStore({ '*': 0 }, join(directory, 'worker-3'));
    await expect(within.writeRegistry(REGISTRY, DOCUMENT)).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
    await expect(within.list()).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
    await mkdir(join(directory, 'worker-4'));
    await writeFile(join(directory, 'worker-4', 'worker.lock'), 'a text '.repeat(1000));
    await expect(open({ '*': 4 }).list(INSTANCE)).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
  });
});
