import type { RegistryDocument, StoredRegistry, WorkerRecord } from '@leaf-ids/core';
import { decodePoolRecord, encodePoolRecord, type PoolEntry, PoolStore, type PoolWrite } from './pool-store';

const NOW = 1_700_000_000_000;
const REGISTRY: StoredRegistry = { document: undefined, origin: 'here', version: '' };
const RECORD: WorkerRecord = {
  ...{ instance: { ip: '10.0.0.7', port: 8080 }, leaseId: 'a', write: 3 },
  ...{ ceiling: NOW, free: false },
};
const OTHER: WorkerRecord = { ...RECORD, instance: { ip: '10.0.0.8', port: 8080 } };
const TEXT = '{"state":"inuse","ip":"10.0.0.7","port":"8080","leaseId":"a","ceiling":1700000000000,"write":3}';
const UNREADABLE = { code: 'LEAF_WORKER_FILE_INVALID' };

/** Whose entries, and whose outcome of a write, a test sets. */
class Store extends PoolStore {
  readonly description = 'a store';
  entriesHere: PoolEntry[] = [];
  written: PoolWrite = { version: '2', repeated: false };
  aborted = 0;

  protected entries(workerId?: number): Promise<readonly PoolEntry[]> {
    const isAsked = ({ number }: PoolEntry): boolean => workerId === undefined || number === String(workerId);
    return Promise.resolve(this.entriesHere.filter(isAsked));
  }
  protected placeOf(workerId?: number): string {
    return `place ${workerId ?? 'of the document'}`;
  }
  protected createRecord(): Promise<PoolWrite> {
    return Promise.resolve(this.written);
  }
  protected replaceRecord(): Promise<PoolWrite> {
    return Promise.resolve(this.written);
  }
  readRegistry(): Promise<StoredRegistry> {
    return Promise.resolve(REGISTRY);
  }
  writeRegistry(): Promise<boolean> {
    return Promise.resolve(true);
  }
  override abort(): Promise<void> {
    this.aborted++;
    return Promise.resolve();
  }
  documentOf(text: string): RegistryDocument {
    return this.parseDocument(text);
  }
}

describe('the record of a pool', () => {
  it.each<[WorkerRecord, string]>([
    [RECORD, TEXT],
    [{ ...RECORD, free: true }, TEXT.replace('inuse', 'notuse')],
    [{ ...RECORD, leaseId: undefined }, TEXT.replace('"a"', '""')],
  ])('%j is %s', (record, text) => {
    expect(encodePoolRecord(record)).toBe(text);
    expect(decodePoolRecord(text)).toEqual(record);
  });

  it('of an earlier version has no number of writes', () => {
    expect(decodePoolRecord(TEXT.replace(',"write":3', ''))).toEqual({ ...RECORD, write: 0 });
  });

  it.each([
    ['', ''],
    ['an unknown state', TEXT.replace('inuse', 'used')],
    ['no state', TEXT.replace('"state":"inuse",', '')],
    ['no address', TEXT.replace('"10.0.0.7"', '7')],
    ['a port that is a number', TEXT.replace('"8080"', '8080')],
    ['no lease', TEXT.replace('"leaseId":"a",', '')],
    ['no ceiling', TEXT.replace('"ceiling":1700000000000,', '')],
    ['a ceiling below zero', TEXT.replace('1700000000000', '-1')],
    ['a fraction of writes', TEXT.replace('"write":3', '"write":1.5')],
    ['other text', 'inuse'],
  ])('cannot be read with %s', (_, text) => {
    expect(decodePoolRecord(text)).toBeUndefined();
  });
});

describe('PoolStore', () => {
  let store: Store;
  beforeEach(() => (store = new Store()));
  const entry = (number: string, text: string | undefined = TEXT): PoolEntry => ({ number, text, version: '1' });

  it('lists what can be read, of an instance or of all', async () => {
    const numbers = ['0', '7', '999999999', '07', '-1', 'x', '7x', 'x7', '1000000000', ''];
    store.entriesHere = [...numbers.map((number) => entry(number)), entry('8', encodePoolRecord(OTHER))];
    store.entriesHere.push({ number: '9', text: undefined, version: '1' }, entry('10', 'broken'));
    const listed = await store.list();
    expect(listed.map(({ workerId }) => workerId)).toEqual([0, 7, 999_999_999, 8]);
    expect(listed[0]).toEqual({ workerId: 0, record: RECORD, version: '1' });
    expect(await store.list(OTHER.instance)).toEqual([{ workerId: 8, record: OTHER, version: '1' }]);
    expect(await store.peers(NOW - 1)).toHaveLength((await store.list()).length);
  });

  it('reads a record, and refuses one that cannot be read', async () => {
    store.entriesHere = [entry('7'), entry('8', 'broken')];
    expect(await store.read(7)).toEqual({ workerId: 7, record: RECORD, version: '1' });
    expect(await store.read(9)).toBeUndefined();
    await expect(store.read(8)).rejects.toMatchObject({
      ...UNREADABLE,
      message: expect.stringContaining('place 8') as string,
    });
    const document = {
      ...{ id: 'f00', strategy: 'etcd', madeAt: NOW, layout: 'a', highest: 3, generation: 1 },
      ...{ origin: 'here', began: NOW, floor: 0 },
    };
    expect(store.documentOf(JSON.stringify(document))).toMatchObject(document);
    expect(() => store.documentOf('{}')).toThrow(expect.objectContaining(UNREADABLE));
    expect(() => store.documentOf('{}')).toThrow('place of the document');
  });

  const create = (): Promise<unknown> => store.create(REGISTRY, RECORD, 7);
  const replace = (): Promise<unknown> => store.replace({ workerId: 7, record: OTHER, version: '1' }, RECORD);

  it.each([
    ['creates', create],
    ['replaces', replace],
  ])('%s a record, unless another server was faster', async (_, write) => {
    store.entriesHere = [entry('7')];
    expect(await write()).toEqual({ workerId: 7, record: RECORD, version: '2' });
    store.written = { version: undefined, repeated: false };
    expect(await write()).toBeUndefined();
    // The earlier attempt was executed.
    store.written = { version: undefined, repeated: true };
    expect(await write()).toEqual({ workerId: 7, record: RECORD, version: '1' });
    store.entriesHere = [entry('7', encodePoolRecord({ ...RECORD, write: 4 }))];
    expect(await write()).toBeUndefined();
    store.entriesHere = [];
    expect(await write()).toBeUndefined();
  });

  it('creates no record without a number, and closes at once', async () => {
    expect(await store.create(REGISTRY, RECORD, undefined)).toBeUndefined();
    await store.close();
    expect(store.aborted).toBe(1);
  });
});
