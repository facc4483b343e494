import { type FleetOptions, MAINTAIN_MS, RegistryFleet } from '../../../test/support/fakes/registry-fleet';
import type { Growth } from './growth';

type Registry = FleetOptions['registry'];

/** In which each server looks at the registry once: with the default lease of a pool, every eighth call is due. */
const RUN_MS = { zk_recycle: 8 * MAINTAIN_MS, zk_normal: MAINTAIN_MS, database: 8 * MAINTAIN_MS };
/** An open console requests the list of servers every 5 s. */
const WATCHES_PER_MINUTE = 12;

/** What one fleet costs its registry. */
async function measure(registry: Registry, servers: number): Promise<Record<string, number>> {
  const fleet = new RegistryFleet({ servers, registry });
  const { traffic } = fleet;
  const readsOf = async (act: () => Promise<void>): Promise<number> => {
    traffic.reset();
    await act();
    return traffic.reads;
  };
  const starts = await readsOf(() => fleet.start());
  await fleet.run(MAINTAIN_MS);
  traffic.reset();
  await fleet.run(RUN_MS[registry]);
  const seconds = RUN_MS[registry] / 1000;
  const { reads, writes, bytes } = traffic;
  const windows =
    registry === 'zk_normal' ? {} : { 'reads, one worker window': await readsOf(() => fleet.issueWindow()) };
  await fleet.watch(1);
  const watched = await readsOf(() => fleet.watch(WATCHES_PER_MINUTE));
  const watchedBytes = traffic.bytes;
  return {
    'reads/s of the running fleet': reads / seconds,
    'writes/s of the running fleet': writes / seconds,
    'bytes/s of the running fleet': bytes / seconds,
    'reads/s, one open console': watched / 60,
    'bytes/s, one open console': watchedBytes / 60,
    'reads, start of all servers': starts,
    'reads, start of one more server': await readsOf(() => fleet.startOne()),
    ...windows,
  };
}

/** The cost of fleets of the given sizes. */
export async function registryGrowth(registry: Registry, sizes: readonly number[]): Promise<Growth[]> {
  const fleets: Record<string, number>[] = [];
  for (const servers of sizes) {
    console.error(`${registry}, ${servers} servers …`);
    fleets.push(await measure(registry, servers));
  }
  const [first = {}] = fleets;
  return Object.keys(first).map((name) => ({ name, values: fleets.map((fleet) => fleet[name] ?? NaN) }));
}
