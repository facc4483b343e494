import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { inTime, LeaseRig, type LeaseRigOptions, REPORT_MS } from '../../../../../test/support/fakes/lease-rig';
import { failNextWrite } from '../../../../../test/support/fakes/lost-answers';

type State = Record<string, unknown>;

/** The private fields of an object. */
function stateOf(object: unknown): State {
  return object as State;
}

/** Gives `to` the sent writes of `from`. */
function copyHolder(from: LeaseRig, to: LeaseRig): void {
  const [holder, copy] = [stateOf(stateOf(from.lease).holder), stateOf(stateOf(to.lease).holder)];
  Object.assign(copy, { ...holder, newest: copy.newest });
  copy.sent = new Map(holder.sent as Map<number, unknown>);
}

/** Gives `to` the memory of `from`, as the clone of a virtual machine has it. */
function copyMemory(from: LeaseRig, to: LeaseRig): LeaseRig {
  const [lease, copy] = [stateOf(from.lease), stateOf(to.lease)];
  copyHolder(from, to);
  const claim = Object.assign(Object.create(Object.getPrototypeOf(lease.claim) as object) as State, lease.claim);
  Object.assign(claim, { context: stateOf(to.registry).claims, holder: copy.holder });
  Object.assign(copy, { claim, ...pick(lease, ['ceiling', 'renewAfter', 'recordedAt', 'term']) });
  const [ids, idsCopy] = [stateOf(from.ids), stateOf(to.ids)];
  Object.assign(idsCopy, { ...ids, window: to.lease, clock: idsCopy.clock, random: idsCopy.random });
  return to;
}

function pick(state: State, names: string[]): State {
  return Object.fromEntries(names.map((name) => [name, state[name]]));
}

async function clonePair(options: LeaseRigOptions): Promise<{ clock: FakeClock; pair: [LeaseRig, LeaseRig] }> {
  const server = new InMemoryWorkers();
  const clock = new FakeClock();
  const rig = (): LeaseRig => new LeaseRig(clock, new InMemoryWorkerStore(server), options);
  const original = await inTime(clock, rig().start());
  await original.report();
  return { clock, pair: [original, copyMemory(original, rig())] };
}

/** Timestamps, relative to the clone, of the IDs that both have issued. */
async function givenTwice(
  clock: FakeClock,
  pair: LeaseRig[],
  reportsAt: [number, number],
  ms: number,
): Promise<number[]> {
  const twice: number[] = [];
  for (let t = 0; t < ms; t += 5) {
    const due = pair.filter((_, index) => t % REPORT_MS === reportsAt[index]);
    await Promise.all(due.map((each) => each.report()));
    const [first, second] = pair.map(({ ids }) => ids.tryNext());
    if (first !== undefined && first === second) twice.push(t);
    await clock.advance(5);
  }
  return twice;
}

describe.each(['pool', 'fixed'] as const)('the clone of a running server, with a %s registry', (policy) => {
  it.each([
    ['between the reports of the original', [0, 1500]],
    ['at the same moments', [0, 0]],
  ] as const)(
    'loses its worker ID, or the original does, within a report, when it reports %s',
    async (_, reportsAt) => {
      const { clock, pair } = await clonePair({ policy });
      const twice = await givenTwice(clock, pair, [...reportsAt], 60_000);
      expect(Math.max(...twice)).toBeLessThanOrEqual(REPORT_MS);
      const ended = pair.flatMap(({ losses, historiesLost }) => [...losses, ...historiesLost]);
      expect(ended).toHaveLength(1);
      if (policy === 'pool') expect(pair[0].workerId).not.toBe(pair[1].workerId);
    },
  );

  it('does not hold the same worker ID if the answer to its acquisition was lost before', async () => {
    const server = new InMemoryWorkers();
    const clock = new FakeClock();
    // The first one of a registry waits for its grace.
    await inTime(
      clock,
      new LeaseRig(clock, new InMemoryWorkerStore(server), { policy, instance: { port: 1 } }).start(),
    );
    const store = new InMemoryWorkerStore(server);
    const original = new LeaseRig(clock, store, { policy });
    failNextWrite(store, 'after');
    await expect(inTime(clock, original.lease.acquire())).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    const clone = new LeaseRig(clock, new InMemoryWorkerStore(server), { policy });
    copyHolder(original, clone);

    const pair = [original, clone];
    const acquired = pair.map(({ lease }) => lease.acquire().catch(() => undefined));
    expect(await givenTwice(clock, pair, [0, 1500], 30_000)).toStrictEqual([]);
    const held = pair.flatMap(({ workerId }) => workerId ?? []);
    expect(held).toHaveLength(policy === 'pool' ? 2 : 1);
    await inTime(clock, Promise.all([...pair.map(({ lease }) => lease.release()), ...acquired]));
  });

  it('does not take the record that the other one has just taken', async () => {
    const server = new InMemoryWorkers();
    const clock = new FakeClock();
    const rig = (): LeaseRig => new LeaseRig(clock, new InMemoryWorkerStore(server), { policy, maxWorkerId: 0 });
    const before = await inTime(clock, rig().start());
    await before.lease.release();
    await clock.advance(1);
    const pair: [LeaseRig, LeaseRig] = [rig(), rig()];
    copyHolder(...pair);
    const acquired = pair.map(({ lease }) => lease.acquire().catch(() => undefined));
    expect(await givenTwice(clock, pair, [0, 1500], 5000)).toStrictEqual([]);
    expect(pair.flatMap(({ workerId }) => workerId ?? [])).toEqual([0]);
    await inTime(clock, Promise.all([...pair.map(({ lease }) => lease.release()), ...acquired]));
  });
});
