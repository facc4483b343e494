import { parseArgs } from 'node:util';
import { Sandbox } from './http/sandbox';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { measureStore, type StoreRow } from './store/allocations';
import { SUBJECTS } from './store/databases';
import { describeStore, storeFigures } from './store/store-report';

const FULL = { rounds: 9, roundMs: 1000 };
const QUICK = { rounds: 3, roundMs: 300 };
const TAGS = Array.from({ length: 1000 }, (_, index) => `tag-${String(index).padStart(4, '0')}`);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const plan = values.quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const sandbox = new Sandbox();
  const rows: StoreRow[] = [];
  for (const open of SUBJECTS) {
    const subject = await open(sandbox, TAGS);
    console.error(`${subject.name} …`);
    try {
      rows.push(...(await measureStore(subject, TAGS, plan)));
    } finally {
      await subject.close();
    }
  }
  const drivers = [...new Set(rows.map(({ driver }) => driver))].join(', ');
  console.log(`\n${plan.rounds} rounds of ${plan.roundMs} ms each, store and driver alternately; ${drivers}.\n`);
  console.log(describeStore(rows));
  const results = { environment, targets: [], figures: storeFigures(rows), plan, rows };
  console.log(`Written to ${writeResults('store', results)}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
