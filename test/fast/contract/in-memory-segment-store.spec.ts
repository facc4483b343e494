import { InMemorySegmentStore } from '../../support/fakes/in-memory-segment-store';
import { segmentStoreContract } from '../../support/contract/segment-store.contract';

segmentStoreContract('InMemorySegmentStore', {
  open: () => {
    const store = new InMemorySegmentStore();
    const putRow = (tag: string, maxId: bigint, step: number): Promise<void> => {
      store.put(tag, maxId, step);
      return Promise.resolve();
    };
    return Promise.resolve({
      store,
      second: new InMemorySegmentStore(store.rows, store.deleted),
      putRow,
      readMaxId: (tag: string) => Promise.resolve(store.maxId(tag)!),
      putDeleted: (tag: string, nextId: bigint) => store.recordDeleted(tag, nextId),
      close: () => Promise.resolve(),
    });
  },
});

describe('InMemorySegmentStore, switches', () => {
  function withRow(): InMemorySegmentStore {
    const store = new InMemorySegmentStore();
    store.put('a', 1n, 10);
    return store;
  }

  it('a call that fails is not carried out', async () => {
    const store = withRow();
    store.failNext(1);
    await expect(store.allocate('a', undefined)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(store.maxId('a')).toBe(1n);
    await expect(store.allocate('a', undefined)).resolves.toMatchObject({ from: 1n });
  });

  it('a call whose answer is lost is carried out', async () => {
    const store = withRow();
    store.loseAnswers(1);
    await expect(store.allocate('a', undefined)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(store.maxId('a')).toBe(11n);
    expect(store.lost).toEqual([{ tag: 'a', from: 1n, to: 10n, exact: false }]);
  });

  it('a held call waits for the gate', async () => {
    const store = withRow();
    store.hold();
    const call = store.allocate('a', undefined);
    expect(store.maxId('a')).toBe(1n);
    store.held[0]!.apply();
    expect(store.maxId('a')).toBe(11n);
    store.release();
    await expect(call).resolves.toMatchObject({ from: 1n, to: 10n });
    expect(store.held).toStrictEqual([]);
  });
});
