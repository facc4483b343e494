import { GaleraCluster } from '../support/servers/engines/galera';
import { type Engine, engineSuite } from './engine-suite';
import { versionOf } from './single-server';

interface Galera extends Engine {
  readonly cluster: GaleraCluster;
}

async function start(): Promise<Galera> {
  const cluster = await GaleraCluster.start();
  return {
    cluster,
    version: await versionOf(cluster.nodes[0]!),
    createDatabase: () => cluster.createDatabase(),
    stop: () => cluster.stop(),
  };
}

async function restart({ cluster }: Galera, index: number): Promise<void> {
  await cluster.nodes[index]!.restart();
  await cluster.complete();
}

engineSuite({
  name: 'Galera, 3 nodes, writes on all',
  start,
  disturbances: [0, 1, 2].map((index) => ({
    name: `kill -9 and restart of node ${index + 1}`,
    disturb: (galera: Galera) => restart(galera, index),
  })),
});
