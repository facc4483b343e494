import type {
  Instance,
  RegistryDocument,
  StoredRegistry,
  StoredWorker,
  WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';

export interface WorkerStoreHarness {
  /** Empties the storage; called before each test, after all stores are closed. */
  reset(): Promise<void>;
  /** A new store on the storage. */
  open(): Promise<WorkerStore>;
  /** Whether the store numbers new records by itself when it is asked to. */
  readonly numbers: boolean;
  /** Whether a record belongs to one instance: a second one of the same instance is not made. */
  readonly onePerInstance: boolean;
  /** Removes a record, or the document, behind the back of the stores, while they stay open. */
  remove(what: StoredWorker | 'document'): Promise<unknown>;
  /** Makes the next write of `store` reject, not applied (`before`) or applied (`after`). */
  readonly failNextWrite?: (store: WorkerStore, moment: 'before' | 'after') => void;
}

const NOW = 1_700_000_000_000;
const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

function instanceAt(n: number): Instance {
  return { ip: `host-${n}.leaf-0`, port: 8080 };
}

export function recordOf(n: number, more: Partial<WorkerRecord> = {}): WorkerRecord {
  return { instance: instanceAt(n), leaseId: `00ff00ff00ff000${n % 10}`, write: 1, ceiling: NOW, free: false, ...more };
}

export function documentOf({ origin }: StoredRegistry, more: Partial<RegistryDocument> = {}): RegistryDocument {
  const made = {
    id: 'f00',
    madeAt: NOW,
    strategy: 'test',
    layout: '41,10,12@1288834974657',
    highest: -1,
    generation: 1,
    began: NOW,
  };
  return { ...made, origin, floor: undefined, ...more };
}

/** Contract of every `WorkerStore`, independent of its storage. */
export function workerStoreContract(name: string, harness: WorkerStoreHarness): void {
  describe(`${name} as a WorkerStore`, () => {
    let opened: WorkerStore[] = [];
    const open = async (): Promise<WorkerStore> => {
      const store = await harness.open();
      opened.push(store);
      return store;
    };
    beforeEach(() => harness.reset());
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
      opened = [];
    });

    it('begins empty', async () => {
      const store = await open();
      expect((await store.readRegistry()).document).toBeUndefined();
      expect(await store.list()).toStrictEqual([]);
      expect(await store.list(instanceAt(1))).toStrictEqual([]);
      expect(await store.read(7, instanceAt(1))).toBeUndefined();
    });

    it('keeps the document of the registry, field by field', async () => {
      const [store, other] = [await open(), await open()];
      const read = await store.readRegistry();
      const document = documentOf(read, { highest: 12, floor: NOW + 3 });
      expect(await store.writeRegistry(read, document)).toBe(true);
      expect(await other.readRegistry()).toMatchObject({ document, origin: read.origin });
    });

    it('writes the document only over the one that was read', async () => {
      const [store, other] = [await open(), await open()];
      const [empty, alsoEmpty] = [await store.readRegistry(), await other.readRegistry()];
      expect(await store.writeRegistry(empty, documentOf(empty))).toBe(true);
      expect(await other.writeRegistry(alsoEmpty, documentOf(alsoEmpty, { id: 'other' }))).toBe(false);
      const [one, two] = [await store.readRegistry(), await other.readRegistry()];
      expect(await other.writeRegistry(two, documentOf(two, { highest: 1 }))).toBe(true);
      expect(await store.writeRegistry(one, documentOf(one, { highest: 2 }))).toBe(false);
      expect((await store.readRegistry()).document).toMatchObject({ id: 'f00', highest: 1 });
    });

    it('accepts one of many concurrent writes of the document', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, open));
      const reads = await Promise.all(stores.map((store) => store.readRegistry()));
      const written = await Promise.all(
        stores.map((store, n) => store.writeRegistry(reads[n]!, documentOf(reads[n]!))),
      );
      expect(written.filter(Boolean)).toHaveLength(1);
    });

    it('makes a record with an explicit number, and returns it as written', async () => {
      const [store, other] = [await open(), await open()];
      const made = await store.create(await store.readRegistry(), recordOf(1), 7);
      expect(made).toMatchObject({ workerId: 7, record: { ...recordOf(1), ceiling: ceilingAbout(NOW) } });
      expect(await other.read(7, instanceAt(1))).toEqual(made);
      expect(await other.list()).toEqual([made]);
      expect(await other.list(instanceAt(1))).toEqual([made]);
      expect(await other.list(instanceAt(2))).toStrictEqual([]);
    });

    it('does not make a record that exists', async () => {
      const [store, other] = [await open(), await open()];
      const registry = await store.readRegistry();
      const made = await store.create(registry, recordOf(1), 7);
      expect(await other.create(await other.readRegistry(), recordOf(2), 7)).toBeUndefined();
      if (harness.onePerInstance) expect(await other.create(registry, recordOf(1), 8)).toBeUndefined();
      expect(await store.list()).toEqual([made]);
    });

    it('makes many records at once, and keeps those that exist', async () => {
      const store = await open();
      const registry = await store.readRegistry();
      const [other] = [recordOf(999, { leaseId: 'another' })];
      const taken = (await store.create(registry, other, 20))!;
      const workers = Array.from({ length: 600 }, (_, n) => ({ workerId: 10 + n, record: recordOf(n) }));
      await store.createAll(registry, workers);
      const found = new Map((await store.list()).map((stored) => [stored.workerId, stored]));
      expect(found.size).toBe(workers.length);
      expect(found.get(20)).toEqual(taken);
      const last = found.get(609)!;
      expect(last.record).toMatchObject({ instance: instanceAt(599), leaseId: recordOf(599).leaseId, write: 1 });
      expect(await store.replace(last, { ...last.record, write: 2 })).toBeDefined();
      await store.createAll(registry, []);
    });

    it('accepts one of many concurrent creates of a record', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, open));
      const registry = await stores[0]!.readRegistry();
      const made = await Promise.all(stores.map((store, n) => store.create(registry, recordOf(n), 3)));
      const winners = made.filter((each) => each !== undefined);
      // Stores that find a conflict after the fact may refuse all; they never let two through.
      expect(winners.length).toBeLessThanOrEqual(1);
      expect(await stores[0]!.list()).toEqual(winners);
    });

    if (harness.numbers) {
      it('numbers records by itself, each once', async () => {
        const stores = await Promise.all(Array.from({ length: 5 }, open));
        const registry = await stores[0]!.readRegistry();
        const made = await Promise.all(stores.map((store, n) => store.create(registry, recordOf(n), undefined)));
        expect(new Set(made.map((each) => each?.workerId)).size).toBe(5);
        expect(await stores[0]!.list()).toHaveLength(5);
      });

      it('does not number a new record with an explicit number in use', async () => {
        const store = await open();
        const registry = await store.readRegistry();
        const first = await store.create(registry, recordOf(1), undefined);
        const next = first!.workerId + 1;
        await store.create(registry, recordOf(2), next);
        const others = [await store.create(registry, recordOf(3), undefined)];
        // The store may need a retry.
        others.push(await store.create(registry, recordOf(4), undefined));
        const numbers = others.flatMap((each) => each?.workerId ?? []);
        expect(numbers.length).toBeGreaterThan(0);
        for (const number of numbers) expect(number).toBeGreaterThan(next);
      });
    }

    it('replaces a record that is as it was read', async () => {
      const [store, other] = [await open(), await open()];
      const made = await store.create(await store.readRegistry(), recordOf(1), 7);
      const raised = await store.replace(made!, recordOf(1, { ceiling: NOW + 10_000, write: 2 }));
      expect(raised).toMatchObject({ workerId: 7, record: { write: 2, ceiling: ceilingAbout(NOW + 10_000) } });
      expect(await other.read(7, instanceAt(1))).toEqual(raised);
      const again = await other.replace(raised!, recordOf(1, { leaseId: 'ffff', ceiling: NOW + 1 }));
      expect(again?.record).toMatchObject({ leaseId: 'ffff', ceiling: ceilingAbout(NOW + 1) });
    });

    it('does not replace a record that was written since', async () => {
      const [store, other] = [await open(), await open()];
      const made = await store.create(await store.readRegistry(), recordOf(1), 7);
      const read = await other.read(7, instanceAt(1));
      const won = await other.replace(read!, recordOf(1, { leaseId: 'ffff', write: 1 }));
      expect(await store.replace(made!, recordOf(1, { write: 2 }))).toBeUndefined();
      expect(await store.read(7, instanceAt(1))).toEqual(won);
    });

    it('distinguishes a record from an equal one after two more writes', async () => {
      const store = await open();
      const made = await store.create(await store.readRegistry(), recordOf(1), 7);
      const second = await store.replace(made!, recordOf(1, { write: 2, ceiling: NOW + 2 }));
      await store.replace(second!, recordOf(1, { write: 3, ceiling: NOW }));
      expect(await store.replace(made!, recordOf(1, { write: 4 }))).toBeUndefined();
    });

    it.each([0, 1, 2])(
      'does not replace a record that was removed, made again and written %i times',
      async (writes) => {
        const [store, other] = [await open(), await open()];
        let read = (await store.create(await store.readRegistry(), recordOf(1), 7))!;
        for (let n = 0; n < writes; n++) read = (await store.replace(read, recordOf(1, { write: n + 2 })))!;
        await harness.remove(read);
        expect(await store.replace(read, recordOf(1, { write: 9 }))).toBeUndefined();
        const theirs = { leaseId: 'ffff', ceiling: NOW + 100 };
        let made = (await other.create(await other.readRegistry(), recordOf(1, theirs), 7))!;
        for (let n = 0; n < writes; n++) made = (await other.replace(made, recordOf(1, { ...theirs, write: n + 2 })))!;
        expect(await store.replace(read, recordOf(1, { write: 9 }))).toBeUndefined();
        expect(await other.read(7, instanceAt(1))).toEqual(made);
      },
    );

    it.each([0, 1, 2])(
      'does not replace a document that was removed, made again and written %i times',
      async (writes) => {
        const [store, other] = [await open(), await open()];
        const write = async (by: WorkerStore, id: string): Promise<StoredRegistry> => {
          for (let highest = -1; highest < writes; highest++) {
            const before = await by.readRegistry();
            expect(await by.writeRegistry(before, documentOf(before, { id, highest }))).toBe(true);
          }
          return by.readRegistry();
        };
        const read = await write(store, 'f00');
        await harness.remove('document');
        expect(await store.writeRegistry(read, documentOf(read, { highest: 9 }))).toBe(false);
        const { document } = await write(other, 'ba5');
        expect(await store.writeRegistry(read, documentOf(read, { highest: 9 }))).toBe(false);
        expect((await other.readRegistry()).document).toEqual(document);
      },
    );

    it('keeps the holder of a released record', async () => {
      const store = await open();
      const made = await store.create(await store.readRegistry(), recordOf(1), 7);
      const free = recordOf(1, { free: true, write: 2 });
      expect(await store.replace(made!, free)).toMatchObject({ record: { ...free, ceiling: ceilingAbout(NOW) } });
      expect(await store.read(7, instanceAt(1))).toMatchObject({ record: { ...free, ceiling: ceilingAbout(NOW) } });
    });

    const { failNextWrite } = harness;
    if (failNextWrite !== undefined) {
      it.each(['before', 'after'] as const)('rejects a write that fails %s it is applied', async (moment) => {
        const store = await open();
        const made = await store.create(await store.readRegistry(), recordOf(1), 7);
        failNextWrite(store, moment);
        await expect(store.replace(made!, recordOf(1, { write: 2 }))).rejects.toMatchObject(UNREACHABLE);
        expect((await store.read(7, instanceAt(1)))?.record.write).toBe(moment === 'after' ? 2 : 1);
      });
    }
  });
}

/** A store may round a ceiling up by a millisecond. */
function ceilingAbout(ms: number): number {
  const close = expect.objectContaining({}) as { asymmetricMatch: (other: unknown) => boolean };
  close.asymmetricMatch = (other) => other === ms || other === ms + 1;
  return close as unknown as number;
}
