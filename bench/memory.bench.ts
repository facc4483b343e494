import { startMariadb } from '../test/support/servers/mariadb';
import { startZookeeper } from '../test/support/servers/zookeeper';
import { Sandbox } from './http/sandbox';
import { type ConnectionReport, measureConnections } from './memory/connections';
import { measureStarts, type StartReport } from './memory/idle';
import { describeMemory, memoryFigures, memoryTargets } from './memory/memory-report';
import { Subject } from './memory/server-memory';
import { measureTags, type TagReport } from './memory/tags';
import { readServerOptions } from './http/server-options';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';

const SNOWFLAKE_PATH = '/api/snowflake/get/bench';
const FULL = { rounds: 3, tags: [20_000, 100_000], used: 100_000, connections: [2000, 10_000] };
const QUICK = { rounds: 1, tags: [10_000, 50_000], used: 50_000, connections: [1000, 5000] };

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const sandbox = new Sandbox();
  const subject = new Subject(sandbox, server);
  const starts: StartReport[][] = [];
  const zookeeper: StartReport[] = [];
  const mysql: StartReport[] = [];
  const tags: TagReport[][] = [];
  const connections: ConnectionReport[][] = [];
  const [mariadb, ensemble] = await Promise.all([startMariadb(), startZookeeper()]);
  try {
    const zk = {
      LEAF_SEGMENT_ENABLED: 'false',
      LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle',
      LEAF_ZOOKEEPER: await ensemble.createDatabase(),
    };
    const sql = { LEAF_SNOWFLAKE_REGISTRY: 'mysql', LEAF_DATABASE_URL: await mariadb.createDatabase() };
    for (let round = 1; round <= plan.rounds; round++) {
      console.error(`round ${round} of ${plan.rounds} …`);
      starts.push(await measureStarts(subject, 3, {}, { rest: true }));
      zookeeper.push(...(await measureStarts(subject, 1, zk, { idPath: SNOWFLAKE_PATH })));
      mysql.push(...(await measureStarts(subject, 1, sql)));
      const few = await measureTags(subject, plan.tags[0]!, 0);
      tags.push([few, await measureTags(subject, plan.tags[1]!, plan.used)]);
      connections.push(await measureConnections(subject, sandbox, plan.connections));
    }
  } finally {
    await Promise.all([mariadb.stop(), ensemble.stop()]);
  }
  const measured = { starts, zookeeper, mysql, tags, connections };
  console.log(`\n${describeMemory(measured)}\n`);
  const [figures, targets] = [memoryFigures(measured), memoryTargets(measured)];
  console.log(`Written to ${writeResults('memory', { environment, targets, figures, plan, measured })}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
