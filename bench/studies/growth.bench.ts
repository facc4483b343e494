import { parseArgs } from 'node:util';
import { describeEnvironment, readEnvironment } from '../report/environment';
import { writeResults } from '../report/results-file';
import { below, describeTargets, type Figure, figure } from '../report/targets';
import { describeGrowth, exponentOf, type Growth } from './growth/growth';
import { registryGrowth } from './growth/registries';
import { tagGrowth } from './growth/tags';

const REGISTRIES = ['zk_recycle', 'zk_normal', 'database'] as const;
const FULL = { servers: [10, 100, 1000], tags: [1000, 10_000, 100_000] };
const QUICK = { servers: [10, 100], tags: [1000, 10_000] };
/** A running fleet may cost in proportion to its servers. */
const MOST = 1.1;
const RUNNING = /running fleet/;

interface Study {
  readonly what: string;
  readonly sizes: readonly number[];
  readonly rows: readonly Growth[];
}

/** Counts operations on simulated time: the load of the machine has no influence. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const plan = values.quick ? QUICK : FULL;
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const studies: Study[] = [];
  const add = (study: Study): void => {
    studies.push(study);
    console.log(`\n${describeGrowth(study.what, study.sizes, study.rows)}`);
  };
  for (const registry of REGISTRIES) {
    add({
      what: `${registry}: servers`,
      sizes: plan.servers,
      rows: await registryGrowth(registry, plan.servers),
    });
  }
  add({ what: 'tags', sizes: plan.tags, rows: await tagGrowth(plan.tags) });

  const exponents = studies.flatMap(({ what, sizes, rows }) =>
    rows.map(({ name, values: at }) => ({ name: `${what}, ${name}`, exponent: exponentOf(sizes, at) })),
  );
  const targets = exponents
    .filter(({ name }) => RUNNING.test(name))
    .map(({ name, exponent }) => below(`exponent, ${name}`, exponent, MOST, ''));
  const figures = exponents.map(({ name, exponent }): Figure => figure(`exponent, ${name}`, exponent, ''));
  console.log(`\n${describeTargets(targets)}`);
  console.log(`Written to ${writeResults('growth', { environment, targets, figures, plan, studies })}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
