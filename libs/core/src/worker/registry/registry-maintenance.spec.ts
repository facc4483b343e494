import { InMemoryWorkers, InMemoryWorkerStore } from '../../testing/in-memory-worker-store';
import { LeaseRig, pass } from '../../../../../test/support/fakes/lease-rig';
import { FakeClock } from '../../clock/fake-clock';
import { parseRegistryDocument } from '../records/registry-document';

const HOUR = 3_600_000;
const CALL_MS = 120_000;

describe('the maintenance of a registry', () => {
  let clock: FakeClock;
  let workers: InMemoryWorkers;
  let lists: jest.SpyInstance;

  beforeEach(() => {
    clock = new FakeClock();
    workers = new InMemoryWorkers();
    lists = jest.spyOn(InMemoryWorkerStore.prototype, 'list');
  });
  afterEach(() => lists.mockRestore());

  async function start(count: number, by = clock): Promise<LeaseRig[]> {
    const rigs: LeaseRig[] = [];
    for (let port = 1; port <= count; port++) {
      const store = new InMemoryWorkerStore(workers);
      rigs.push(await new LeaseRig(by, store, { policy: 'pool', instance: { port } }).start());
    }
    lists.mockClear();
    return rigs;
  }

  it('is the turn of one of the servers that start at the same time', async () => {
    const rigs = await start(5);
    await Promise.all(rigs.map(({ registry }) => registry.maintain(CALL_MS)));
    expect(lists).toHaveBeenCalledTimes(1);
    // The others had lost the race before there was a count: they ask again at the next call.
    await Promise.all(rigs.map(({ registry }) => registry.maintain(CALL_MS)));
    expect(lists).toHaveBeenCalledTimes(1);
    expect(rigs.map(({ registry }) => registry.usage)).toEqual(rigs.map(() => ({ used: 5, most: 1024 })));
  });

  it('stays the turn of that server, and passes on two periods after its last one', async () => {
    const rigs = await start(2);
    const [first, second] = rigs as [LeaseRig, LeaseRig];
    for (let n = 0; n < 4; n++) {
      await first.registry.maintain(CALL_MS);
      await second.registry.maintain(CALL_MS);
      expect(lists).toHaveBeenCalledTimes(n + 1);
      await pass(rigs, clock, HOUR / 4);
    }
    await pass(rigs, clock, HOUR / 4 + 2 * CALL_MS);
    await second.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(4);
    await pass(rigs, clock, HOUR / 4);
    await second.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(5);
    await first.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(5);
  });

  it('passes on at once from a server whose clock was ahead', async () => {
    const [first, second] = (await start(2)) as [LeaseRig, LeaseRig];
    clock.step(24 * HOUR);
    await first.registry.maintain(CALL_MS);
    clock.step(-24 * HOUR);
    await second.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(2);
    expect(workers.document?.maintained?.at).toBe(clock.now());
  });

  it('changes nothing before the generation has begun', async () => {
    const [rig] = (await start(1)) as [LeaseRig];
    const settled = workers.document!;
    workers.document = undefined;
    await rig.registry.maintain(CALL_MS);
    expect(workers.document).toBeUndefined();
    workers.document = { ...settled, origin: 'before the failover' };
    await rig.registry.maintain(CALL_MS);
    expect(lists).not.toHaveBeenCalled();
    expect(workers.document).toEqual({ ...settled, origin: 'before the failover' });
  });

  it('keeps what another server writes into the document meanwhile', async () => {
    const [rig] = (await start(1)) as [LeaseRig];
    lists.mockImplementationOnce(() => {
      workers.document = { ...workers.document!, highest: 7, maintained: undefined };
      return Promise.resolve([]);
    });
    await rig.registry.maintain(CALL_MS);
    expect(workers.document).toMatchObject({ highest: 7, maintained: undefined });
    expect(rig.registry.usage).toEqual({ used: 0, most: 1024 });
  });

  it('is repeated at the next call if the records could not be read', async () => {
    const [rig] = (await start(1)) as [LeaseRig];
    lists.mockImplementationOnce(() => Promise.reject(new Error('Not now.')));
    await expect(rig.registry.maintain(CALL_MS)).rejects.toThrow('Not now.');
    await rig.registry.maintain(CALL_MS);
    expect(rig.registry.usage).toEqual({ used: 1, most: 1024 });
  });

  it('watches the records of a restored registry anew', async () => {
    const [first, second] = (await start(2)) as [LeaseRig, LeaseRig];
    await first.registry.maintain(CALL_MS);
    const backup = { records: new Map(workers.records), document: workers.document };
    await pass([first, second], clock, 2 * HOUR);
    // As in etcd, a restored record has the version that it had before.
    for (const [workerId, stored] of backup.records) workers.records.set(workerId, stored);
    workers.document = backup.document;
    workers.origin = 'restored';
    await first.report();
    await first.registry.maintain(CALL_MS);
    // The other server still issues IDs.
    const held = workers.records.get(second.workerId!);
    expect(held?.record.free).toBe(false);
    await clock.advance(HOUR);
    await first.registry.maintain(CALL_MS);
    expect(workers.records.get(second.workerId!)?.record.free).toBe(true);
  });

  it('frees no record of a registry that is restored while it is read', async () => {
    const [first, second] = (await start(2)) as [LeaseRig, LeaseRig];
    await first.registry.maintain(CALL_MS);
    const held = workers.records.get(second.workerId!)!;
    await clock.advance(2 * HOUR);
    lists.mockImplementationOnce(() => {
      workers.origin = 'restored';
      return Promise.resolve([...workers.records.values()]);
    });
    await first.registry.maintain(CALL_MS);
    expect(workers.records.get(second.workerId!)).toBe(held);
    expect(first.registry.usage).toEqual({ used: 2, most: 1024 });
  });

  it('passes on from a server that cannot read the records, however often it tries', async () => {
    const [first, second] = (await start(2)) as [LeaseRig, LeaseRig];
    for (let n = 0; n < 2; n++) await first.registry.maintain(CALL_MS).then(() => pass([], clock, HOUR / 4));
    lists.mockClear();
    lists.mockRejectedValue(new Error('Not now.'));
    for (let ms = 0; ms <= HOUR / 2 + 2 * CALL_MS; ms += CALL_MS) {
      await expect(first.registry.maintain(CALL_MS)).rejects.toThrow('Not now.');
      await clock.advance(CALL_MS);
    }
    lists.mockReset().mockResolvedValue([]);
    await second.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(1);
    await first.registry.maintain(CALL_MS);
    expect(lists).toHaveBeenCalledTimes(1);
  });
});

it.each([
  [
    { at: 5, usage: { used: 1, most: 2 } },
    { at: 5, usage: { used: 1, most: 2 } },
  ],
  [{ at: 5 }, { at: 5, usage: undefined }],
  [
    { at: 5, usage: { used: -1, most: 2 } },
    { at: 5, usage: undefined },
  ],
  [{ at: 'now' }, undefined],
  [null, undefined],
])('the document is readable with the maintenance %j', (maintained, parsed) => {
  const document = {
    id: 'a',
    madeAt: 1,
    strategy: 'b',
    layout: 'c',
    highest: -1,
    generation: 1,
    origin: 'd',
    began: 1,
  };
  expect(parseRegistryDocument(JSON.stringify({ ...document, maintained }))).toEqual({
    ...document,
    floor: undefined,
    maintained: parsed,
  });
});
