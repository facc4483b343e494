import { startMariadb } from '../../test/support/servers/mariadb';
import { Sandbox } from '../http/sandbox';
import { readServerOptions } from '../http/server-options';
import { describeEnvironment, readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { describeTargets, figure, type Figure, type Target } from '../report/targets';
import { describeSwitches, measureSwitches, switchFaults, switchTarget } from './segment/switches';
import { describeMemory, measureMemory, memoryTarget } from './segment/tag-memory';
import { describeRefreshes, measureRefreshes } from './segment/tag-refresh';

const FULL = { refreshes: 7, switches: { rounds: 5, roundMs: 4000 } };
const QUICK = { refreshes: 3, switches: { rounds: 2, roundMs: 2000 } };

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const sandbox = new Sandbox();
  const mariadb = await startMariadb();
  try {
    // First, while the code is cold, because a server refreshes its tags immediately after startup.
    const refreshes = await measureRefreshes(mariadb, plan.refreshes);
    const switches = await measureSwitches(mariadb, plan.switches);
    const memory = await measureMemory(mariadb, sandbox, server);
    console.log(`\nTag refresh, ${plan.refreshes} rounds:\n${describeRefreshes(refreshes)}`);
    console.log(`\nSegment switches:\n${describeSwitches(switches)}`);
    console.log(`\nMemory:\n${describeMemory(memory)}\n`);
    const targets = [switchTarget(switches), memoryTarget(memory)];
    console.log(`${describeTargets(targets)}\n`);
    const results = { environment, targets, figures: targets.map(asFigure), plan, refreshes, switches, memory };
    console.log(`Written to ${writeResults('segment', results)}`);
    for (const fault of switchFaults(switches)) {
      console.error(`FAILED: ${fault}`);
      process.exitCode = 1;
    }
  } finally {
    await mariadb.stop();
  }
}

function asFigure({ name, value, unit }: Target): Figure {
  return figure(name, value ?? undefined, unit);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
