import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerRecord } from '@leaf-ids/core';
import { formatRecord, invalid, notWritten, readRecord, readText, workerIdOf, writeText } from './worker-record-file';

const NOW = 1_700_000_000_000;
const RECORD: WorkerRecord = {
  ...{ instance: { ip: '10.0.0.7', port: 8080 }, leaseId: 'a' },
  ...{ write: 3, ceiling: NOW, free: false },
};

describe('the record of a worker in a directory', () => {
  let path: string;
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-record-'));
    path = join(directory, 'workerID.json');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it.each([RECORD, { ...RECORD, free: true, leaseId: undefined, write: 0 }])(
    'is read as it was written: %j',
    async (record) => {
      const text = formatRecord(7, record);
      await writeText(path, text);
      expect(await readRecord(path, 7)).toEqual({ workerId: 7, record, version: text });
      expect(await readRecord(`${path}.other`, 7)).toBeUndefined();
    },
  );

  it.each<[object, Partial<WorkerRecord>]>([
    [{ write: undefined }, { write: 0 }],
    [{ free: undefined }, {}],
    [{ free: 'true' }, {}],
    [{ free: 1 }, {}],
    [{ leaseId: 5 }, { leaseId: undefined }],
  ])('is read with %j', async (fields, expected) => {
    await writeFile(path, JSON.stringify({ ...(JSON.parse(formatRecord(7, RECORD)) as object), ...fields }));
    expect((await readRecord(path, 7))?.record).toEqual({ ...RECORD, ...expected });
  });

  it.each<[string, string]>([
    ['', 'it is empty'],
    ['broken', 'it is not the record of worker 7'],
    [formatRecord(8, RECORD), 'it is not the record of worker 7'],
    [formatRecord(7, RECORD).replace('7,', '"7",'), 'it is not the record of worker 7'],
    [formatRecord(7, { ...RECORD, ceiling: -1 }), 'its timestamp is not a time in Unix milliseconds'],
    [formatRecord(7, { ...RECORD, ceiling: 0.5 }), 'its timestamp is not a time in Unix milliseconds'],
    [formatRecord(7, { ...RECORD, write: -1 }), 'its number of writes is not a whole number'],
    [formatRecord(7, { ...RECORD, write: 0.5 }), 'its number of writes is not a whole number'],
  ])('is refused as %j', async (text, problem) => {
    await writeFile(path, text);
    await expect(readRecord(path, 7)).rejects.toMatchObject({
      code: 'LEAF_WORKER_FILE_INVALID',
      message: `The worker file ${path} is invalid: ${problem}. Leaf has not changed it. Restore it from a backup; or check that the clock of this host is correct, and delete the file.`,
    });
  });

  it('is missing below a file, which can neither be written', async () => {
    await writeFile(path, '');
    const below = join(path, 'workerID.json');
    expect(await readText(below)).toBeUndefined();
    await expect(writeText(below, 'x')).rejects.toMatchObject({ code: 'LEAF_DATA_DIR_UNUSABLE' });
  });

  it.each<[string, number | undefined]>([
    ['worker-0', 0],
    ['worker-1023', 1023],
    ['worker-999999999', 999_999_999],
    ['worker-1000000000', undefined],
    ['worker-', undefined],
    ['worker-x', undefined],
    ['worker-3x', undefined],
    ['my-worker-3', undefined],
    ['worker--3', undefined],
  ])('is in the directory %s of the worker %s', (name, workerId) => {
    expect(workerIdOf(name)).toBe(workerId);
  });

  it.each<[string, string, RegExp, number | undefined]>([
    ['EROFS', 'LEAF_DATA_DIR_UNUSABLE', /^The worker file \/x is on a read-only file system\. Mount it/, undefined],
    ['ENOTDIR', 'LEAF_DATA_DIR_UNUSABLE', /^\/x is not a directory: broken\. Move the file away/, undefined],
    ['ENOSPC', 'LEAF_REGISTRY_UNREACHABLE', /^Cannot write the worker file \/x: broken\. Free space/, 1000],
  ])('that cannot be written because of %s is %s', (code, expected, message, retryAfterMs) => {
    const cause = Object.assign(new Error('broken'), { code });
    const error = notWritten('/x', cause);
    expect(error).toMatchObject({ code: expected, cause, message: expect.stringMatching(message) as string });
    expect(error.retryAfterMs).toBe(retryAfterMs);
  });

  it('is refused with the cause', () => {
    const cause = new Error('broken');
    expect(invalid('/x', 'it is torn', cause).cause).toBe(cause);
  });

  it('is refused when a directory is in its place', async () => {
    await expect(readText(directory)).rejects.toMatchObject({ code: 'LEAF_WORKER_FILE_INVALID' });
  });
});
