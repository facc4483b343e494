import { arrangeCores } from '../http/cores';
import { Sandbox } from '../http/sandbox';
import { describeOverload, overloadTargets } from './overload/overload-report';
import { type OverloadResult, runOverload } from './overload/overload-run';
import { SCENARIOS } from './overload/scenarios';
import { readServerOptions } from '../http/server-options';
import { describeEnvironment, readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { describeTargets, figure } from '../report/targets';

const FULL = { warmUpSeconds: 3, peakSeconds: 5, overloadSeconds: 15, afterSeconds: 5 };
const QUICK = { warmUpSeconds: 2, peakSeconds: 2, overloadSeconds: 5, afterSeconds: 3 };

async function main(): Promise<void> {
  const { quick, server } = readServerOptions();
  const plan = quick ? QUICK : FULL;
  const environment = readEnvironment();
  const sandbox = new Sandbox();
  const cores = arrangeCores();
  console.log(describeEnvironment(environment));
  const results: OverloadResult[] = [];
  for (const prepare of SCENARIOS) {
    const scenario = await prepare();
    try {
      console.error(`${scenario.name} …`);
      results.push(await runOverload(sandbox, cores, server, scenario, plan));
    } finally {
      await scenario.stop();
    }
  }
  console.log(`\n${plan.overloadSeconds} s of ten times the peak, then half the peak.\n${describeOverload(results)}`);
  const targets = overloadTargets(results);
  console.log(`\n${describeTargets(targets)}`);
  const figures = results.map(({ name, peak }) => figure(`${name}, peak`, peak, 'requests/s'));
  const file = writeResults('overload', { environment, targets, figures, plan, pinned: cores.pinned, results });
  console.log(`Written to ${file}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
