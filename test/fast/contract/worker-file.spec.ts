import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError, type StoredWorker, type WorkerRecord } from '@leaf-ids/core';
import type { FileRecord } from '@leaf-ids/core/internal';
import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { ExclusiveLock } from '../../../libs/registry/src/file/exclusive-lock';
import { PropertiesWorkerFile, readTextFile } from '../../../libs/registry/src/file/properties-worker-file';
import { withoutRights } from '../../support/without-rights';
import { givenTwice, LeaseRig, pass, REPORT_MS } from '../../support/fakes/lease-rig';

const START = 1_700_000_000_000;
const INSTANCE = { ip: '10.0.0.7', port: 8080 };
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
const INVALID = { code: 'LEAF_WORKER_FILE_INVALID' };

const record: FileRecord = {
  ...{ instance: '10.0.0.7:8080', registry: 'mysql (mysql://db1:3306/leaf)', registryId: 'f00', generation: 2 },
  ...{ layout: '41,10,12@1288834974657', workerId: 7, ceiling: START, leaseId: 'abc', write: 3, attempted: 4 },
  ...{ attempt: undefined, state: 'held' },
};

let directory: string;
const files: PropertiesWorkerFile[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-worker-file-'));
});
afterEach(async () => {
  for (const file of files.splice(0)) file.close();
  await rm(directory, { recursive: true });
});

function fileOf(host: string): PropertiesWorkerFile {
  const file = new PropertiesWorkerFile(join(directory, host));
  files.push(file);
  return file;
}

const pathOf = (host: string): string => join(directory, host, '8080', 'workerID.properties');

describe('the worker file', () => {
  it('is not called invalid for a fault of the system', async () => {
    await mkdir(join(directory, 'h1', '8080'), { recursive: true });
    // Reading it fails with EIO.
    await symlink('/proc/self/mem', pathOf('h1'));
    const message = expect.stringMatching(/EIO.*Do not delete the file/) as string;
    const cause = { code: 'EIO' };
    await expect(fileOf('h1').open(INSTANCE)).rejects.toMatchObject({
      ...{ ...UNREACHABLE, message, cause, retryAfterMs: 1000 },
    });
  });

  it('is read as it was written, with the keys of Java first', async () => {
    for (const each of [
      record,
      { ...record, attempt: 'def', state: 'released' as const },
      { ...record, origin: "IF(a = 'b', 1, 2)", began: START },
      { ...record, state: 'lost' as const },
    ]) {
      const file = fileOf('h1');
      await file.open(INSTANCE);
      await file.write(each);
      expect(await file.open(INSTANCE)).toEqual(each);
      file.close();
      expect(await fileOf('h1').open(INSTANCE)).toEqual(each);
      for (const open of files.splice(0)) open.close();
    }
    expect(await readFile(pathOf('h1'), 'utf8')).toMatch(/^workerID=7\nmaxTimestamp=1700000000000\n/);
  });

  it.each(['false', 'true'])(
    'of version 1 (released=%s) counts by its ceiling, and proves nothing else',
    async (released) => {
      const old = `workerID=7\nmaxTimestamp=${START}\nregistry=mysql (db)\ninstance=10.0.0.7:8080\nrecordedTimestamp=1\nversion=12\nreleased=${released}\n`;
      await mkdir(join(directory, 'h1', '8080'), { recursive: true });
      await writeFile(pathOf('h1'), old);
      expect(await fileOf('h1').open(INSTANCE)).toEqual({
        ...{
          instance: '10.0.0.7:8080',
          registry: 'mysql (db)',
          registryId: '',
          generation: 0,
          layout: '',
          workerId: 7,
        },
        ...{ ceiling: START, leaseId: '', write: 0, attempted: 0, attempt: undefined },
        state: released === 'true' ? 'released' : 'held',
      });
    },
  );

  it('is refused when truncated, foreign or invalid, is not changed, and is read after a repair', async () => {
    const first = fileOf('h1');
    await first.open(INSTANCE);
    await first.write(record);
    first.close();
    const whole = await readFile(pathOf('h1'), 'utf8');
    const cut = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length));
    const wrong = [/^workerID=.*$/m, /^maxTimestamp=.*$/m, /^write=.*$/m].flatMap((line) =>
      ['=', '=-1', '=seven', '=7x', '=9007199254740992'].map((value) =>
        whole.replace(line, (text) => text.slice(0, text.indexOf('=')) + value),
      ),
    );
    const foreign = whole.replace('10.0.0.7', '10.0.0.8');
    const file = fileOf('h1');
    for (const text of [
      ...cut,
      ...wrong,
      foreign,
      whole.replace(/^layout=.*\n/m, ''),
      whole.replace('held', 'maybe'),
      `${whole}write=4\n`,
      'workerID=7\nmaxTimestamp=1\nregistry=r\ninstance=10.0.0.7:8080\nreleased=true\nversion=2\n',
    ]) {
      await writeFile(pathOf('h1'), text);
      await expect(file.open(INSTANCE)).rejects.toMatchObject(INVALID);
      expect(await readFile(pathOf('h1'), 'utf8')).toBe(text);
    }
    await writeFile(pathOf('h1'), whole);
    expect(await file.open(INSTANCE)).toEqual(record);
  });

  it.each([
    ['', 'it is empty'],
    ['workerID=7\nstate=he', 'its last line is incomplete'],
    ['workerID=7\nstate=held\n', 'the line maxTimestamp= is missing'],
  ])('that contains %j is refused because %s', async (text, problem) => {
    await mkdir(join(directory, 'h1', '8080'), { recursive: true });
    await writeFile(pathOf('h1'), text);
    const message = expect.stringContaining(
      `${pathOf('h1')} is invalid: ${problem}. Leaf has not changed it.`,
    ) as string;
    await expect(fileOf('h1').open(INSTANCE)).rejects.toMatchObject({ ...INVALID, message });
  });

  it('that cannot be read is refused', async () => {
    await mkdir(pathOf('h1'), { recursive: true });
    const cause = { code: 'EISDIR' };
    await expect(fileOf('h1').open(INSTANCE)).rejects.toMatchObject({ ...INVALID, cause });
  });

  it('that this user may not read is not called invalid', async () => {
    const file = join(directory, 'file');
    await writeFile(file, 'state=held\n');
    const message = expect.stringMatching(/EACCES.*Make it readable for this user\. Do not delete it/) as string;
    await expect(withoutRights(file, () => readTextFile(file))).rejects.toMatchObject({
      ...{ code: 'LEAF_DATA_DIR_UNUSABLE', message },
      cause: { code: 'EACCES' },
    });
  });

  it('belongs to one process at a time', async () => {
    await fileOf('h1').open(INSTANCE);
    await expect(fileOf('h1').open(INSTANCE)).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
  });

  it.each(['removed', 'replaced'])('refuses to be written once its directory was %s', async (what) => {
    const file = fileOf('h1');
    await file.open(INSTANCE);
    await file.write(record);
    await rm(join(directory, 'h1'), { recursive: true });
    if (what === 'replaced') await fileOf('h1').open(INSTANCE);
    await expect(file.write(record)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining('restart'),
    });
    if (what === 'replaced') expect(await readdir(join(directory, 'h1', '8080'))).not.toContain('workerID.properties');
  });

  it('is not taken for written if its directory is replaced during the write', async () => {
    const file = fileOf('h1');
    await file.open(INSTANCE);
    const check = jest.spyOn(ExclusiveLock.prototype, 'isInPlace').mockImplementationOnce(async () => {
      await rm(join(directory, 'h1'), { recursive: true });
      await fileOf('h1').open(INSTANCE);
      return true;
    });
    await expect(file.write(record)).rejects.toMatchObject(UNREACHABLE);
    check.mockRestore();
    expect(await file.open(INSTANCE)).toBeUndefined();
  });

  it('rejects while the disk fails, and goes on afterwards', async () => {
    const file = fileOf('h1');
    await file.open(INSTANCE);
    await file.write(record);
    await mkdir(`${pathOf('h1')}.tmp`);
    await expect(file.write({ ...record, ceiling: START + 1 })).rejects.toMatchObject({
      ...{ ...UNREACHABLE, cause: { code: 'EISDIR' }, retryAfterMs: 1000 },
    });
    expect(await file.open(INSTANCE)).toEqual(record);
    await rm(`${pathOf('h1')}.tmp`, { recursive: true });
    await file.write({ ...record, ceiling: START + 1 });
  });

  it('cannot be written before it is opened', async () => {
    await expect(fileOf('h1').write(record)).rejects.toThrow('must be opened before it is written');
  });
});

/** Executes a write and loses its result. */
class LossyStore extends InMemoryWorkerStore {
  losing = 0;

  override async replace(read: StoredWorker, next: WorkerRecord): Promise<StoredWorker | undefined> {
    const stored = await super.replace(read, next);
    if (this.losing-- <= 0) return stored;
    throw new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The answer was lost.');
  }
}

describe('a server with a worker file', () => {
  let clock: FakeClock;
  let server: InMemoryWorkers;
  const made: { readonly rig: LeaseRig; readonly file: PropertiesWorkerFile }[] = [];

  beforeEach(() => {
    clock = new FakeClock(START);
    server = new InMemoryWorkers();
  });

  function make(host: string, ip = '10.0.0.7'): { rig: LeaseRig; store: LossyStore; file: PropertiesWorkerFile } {
    const [store, file] = [new LossyStore(server), fileOf(host)];
    const rig = new LeaseRig(clock, store, { file, policy: 'fixed', instance: { ip, port: 8080 } });
    made.push({ rig, file });
    return { rig, store, file };
  }

  /** Runs, reports three times, and crashes. */
  async function crashed(host: string): Promise<number | undefined> {
    const { rig, file } = make(host);
    await rig.start();
    await pass([rig], clock, 3 * REPORT_MS);
    file.close();
    return rig.workerId;
  }

  const expectNoStart = async (host: string, reason: RegExp): Promise<void> => {
    const { rig, store, file } = make(host);
    store.line = 'down';
    await expect(rig.start()).rejects.toMatchObject({ ...UNREACHABLE, message: expect.stringMatching(reason) });
    expect(rig.ids.tryNext()).toBeUndefined();
    file.close();
  };

  it('starts and goes on while the registry is away, and records it when it is back', async () => {
    const workerId = await crashed('h1');
    const { rig, store } = make('h1');
    store.line = 'down';
    await rig.start();
    expect(rig.workerId).toBe(workerId);
    await pass([rig], clock, 3 * REPORT_MS);
    expect(rig.lease.snapshot().degradedReason).toContain('down');
    expect(rig.ids.tryNext()).toBeDefined();
    store.line = 'up';
    await pass([rig], clock, 1 * REPORT_MS);
    expect(rig.lease.snapshot().degradedReason).toBeUndefined();
    expect(server.records.get(0)?.record.ceiling).toBe(rig.lease.ceiling);
    expect(rig.losses).toStrictEqual([]);
  });

  it('needs the registry for the very first start', () => expectNoStart('h1', /it does not exist/));

  it('does not start from the file of a lost worker', async () => {
    const a = make('h1');
    await a.rig.start();
    clock.pause(11_000);
    const b = make('h2');
    await b.rig.start();
    await a.rig.report();
    expect(a.rig.losses).toHaveLength(1);
    a.file.close();
    await pass([b.rig], clock, 2 * REPORT_MS);
    await expectNoStart('h1', /may now belong to another server/);
    expect(b.rig.losses).toStrictEqual([]);
  });

  it('is noticed at its first report when it was started from a copied file', async () => {
    const a = make('h1');
    await a.rig.start();
    await pass([a.rig], clock, 3 * REPORT_MS);
    await cp(join(directory, 'h1'), join(directory, 'h2'), { recursive: true });
    const b = make('h2');
    b.store.line = 'down';
    await b.rig.start();
    b.store.line = 'up';
    await pass([a.rig], clock, 4 * REPORT_MS);
    expect(await givenTwice([a.rig, b.rig], clock, 60_000)).toStrictEqual([]);
    expect([a.rig.losses.length, b.rig.losses.length]).toEqual([0, 1]);
  });

  it('does not start from the file after a graceful stop: its worker ID may have been freed by hand', async () => {
    const a = make('h1');
    await a.rig.start();
    a.rig.ids.tryNext();
    await a.rig.lease.release();
    a.file.close();
    const stored = server.records.get(0)!;
    server.records.set(0, { ...stored, record: { ...stored.record, instance: { ip: '10.0.0.9', port: 8080 } } });
    const b = make('h2', '10.0.0.9');
    await b.rig.start();
    expect(b.rig.workerId).toBe(0);
    await expectNoStart('h1', /released the worker ID/);
  });

  it('finds no second server with its address after acquisitions whose replies are lost', async () => {
    await crashed('h1');
    clock.pause(30_000);
    const { rig, store } = make('h1');
    store.losing = 1;
    await rig.start();
    expect(rig.lease.snapshot().degradedReason).toBeUndefined();
    await pass([rig], clock, 2 * REPORT_MS);
    expect(rig.losses).toStrictEqual([]);
  });

  it('finds no second server with its address after a crash before the reply to its acquisition', async () => {
    await crashed('h1');
    clock.pause(30_000);
    const first = make('h1');
    first.store.losing = 1;
    const replace = first.store.replace.bind(first.store);
    first.store.replace = async (...call) => {
      await replace(...call).catch(() => undefined);
      first.store.line = 'down';
      throw new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The answer was lost.');
    };
    await first.rig.start();
    expect(first.rig.lease.snapshot().degradedReason).toBeDefined();
    first.file.close();
    const second = make('h1');
    second.store.line = 'down';
    await second.rig.start();
    second.store.line = 'up';
    await pass([second.rig], clock, 2 * REPORT_MS);
    expect(second.rig.losses).toStrictEqual([]);
    expect(second.rig.lease.snapshot().degradedReason).toBeUndefined();
  });

  it('finds no second server with its address when the first reply after a start from the file is lost', async () => {
    await crashed('h1');
    clock.pause(30_000);
    const { rig, store } = make('h1');
    store.line = 'down';
    await rig.start();
    [store.line, store.losing] = ['up', 1];
    await pass([rig], clock, 3 * REPORT_MS);
    expect(rig.losses).toStrictEqual([]);
    expect(rig.lease.snapshot().degradedReason).toBeUndefined();
  });

  it.each(['removed', 'replaced'])(
    'issues up to its ceiling only, once its data directory was %s in an outage',
    async (what) => {
      const a = make('h1');
      await a.rig.start();
      await pass([a.rig], clock, 3 * REPORT_MS);
      a.store.line = 'down';
      await pass([a.rig], clock, 1 * REPORT_MS);
      const { ceiling } = a.rig.lease;
      await rm(join(directory, 'h1'), { recursive: true });
      if (what === 'replaced') await mkdir(join(directory, 'h1', '8080'), { recursive: true });
      // A twin makes the directory, finds no file, and tries again after our report.
      await expectNoStart('h1', /it does not exist/);
      await pass([a.rig], clock, 1 * REPORT_MS);
      await expectNoStart('h1', /it does not exist/);
      await pass([a.rig], clock, 4 * REPORT_MS);
      expect(a.rig.lease.ceiling).toBe(ceiling);
      expect(a.rig.ids.tryNext()).toBeUndefined();
      a.store.line = 'up';
      await a.rig.report();
      expect(a.rig.failures.at(-1)).toMatchObject(UNREACHABLE);
    },
  );

  it('does not claim the worker of another server after history was lost', async () => {
    const a = make('h1');
    await a.rig.start();
    await a.rig.lease.release();
    a.file.close();
    server.wipe();
    const b = make('h2', '10.0.0.9');
    await b.rig.start();
    expect(b.rig.workerId).toBe(0);
    await expectNoStart('h1', /released the worker ID/);
    const again = make('h1');
    await again.rig.start();
    expect(again.rig.workerId).toBe(1);
    expect(await givenTwice([again.rig, b.rig], clock, 9000)).toStrictEqual([]);
  });

  it('does not go on from the file when the registry denies access', async () => {
    const { rig, store } = make('h1');
    await rig.start();
    const { ceiling } = rig.lease;
    store.replace = () => Promise.reject(new LeafError('LEAF_CONFIG_INVALID', 'Wrong credentials.'));
    await pass([rig], clock, 4 * REPORT_MS);
    expect(rig.lease.snapshot().degradedReason).toBeUndefined();
    expect(rig.lease.ceiling).toBe(ceiling);
    expect(rig.failures).toHaveLength(4);
  });
});
