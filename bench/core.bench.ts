import { parseArgs } from 'node:util';
import { leafContenders } from './core/leaf-contenders';
import { counter, namedCounter, PEER_PACKAGES, peerContenders } from './core/peer-contenders';
import { measureRounds } from './core/rounds';
import { coreFigures, type CoreResult, coreTargets, FORMAT_LIMIT } from './core/core-targets';
import { sampleOf, verdict } from './core/sample';
import { describeEnvironment, readEnvironment } from './report/environment';
import { packageVersion } from './report/package-version';
import { writeResults } from './report/results-file';
import { ratios, summarize } from './report/summary';
import { decimals, formatTable, percent, whole } from '../test/support/table';
import { describeTargets } from './report/targets';

/** More than one segment, so that the sample includes a switch. */
const SAMPLE_SIZE = 1_200_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const { rounds, roundMs } = values.quick ? { rounds: 3, roundMs: 100 } : { rounds: 7, roundMs: 500 };
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const baseline = counter();
  const contenders = [baseline, namedCounter(), ...leafContenders(), ...peerContenders()];
  const onRound = (round: number): void => console.error(`round ${round + 1} of ${rounds} …`);
  const measured = await measureRounds(contenders, { rounds, roundMs, onRound });
  const baselineRates = measured.get(baseline) ?? [];

  const results: CoreResult[] = [];
  for (const [contender, rates] of measured) {
    const sample = await sampleOf(contender, SAMPLE_SIZE);
    results.push({
      contender,
      rates,
      rate: summarize(rates),
      ratio: summarize(ratios(rates, baselineRates)),
      sample,
    });
  }

  const peers = PEER_PACKAGES.map((name) => `${name} ${packageVersion(name)}`).join(', ');
  console.log(`peers: ${peers}`);
  console.log(`\n${rounds} rounds of ${roundMs} ms each, one thread. Sample: ${whole(SAMPLE_SIZE)} IDs.\n`);
  console.log(table(results));
  console.log(`\nof format: share of ${whole(FORMAT_LIMIT)} IDs/s, the limit per worker with 12 sequence bits.`);
  const targets = coreTargets(results);
  console.log(`\n${describeTargets(targets)}`);
  const rows = results.map(({ contender: { name, group, product }, ...figures }) => ({
    name,
    group,
    product,
    ...figures,
  }));
  console.log(
    `Written to ${writeResults('core', { environment, targets, figures: coreFigures(results), rounds, roundMs, results: rows })}`,
  );

  const broken = results.filter(({ contender, sample }) => contender.group.startsWith('leaf') && sample.duplicates > 0);
  for (const { contender, sample } of broken) console.error(`FAILED: ${contender.name}: ${verdict(sample)}`);
  if (broken.length > 0) process.exitCode = 1;
}

function table(results: readonly CoreResult[]): string {
  const header = ['contender', 'gives', 'IDs/s', 'min..max', 'of counter', 'of format', 'sample'];
  const rows = results.map(({ contender, rate, ratio, sample }) => {
    const limited = contender.group === 'leaf-snowflake';
    return [
      contender.name,
      contender.product,
      whole(rate.median),
      `${whole(rate.min)}..${whole(rate.max)}`,
      decimals(ratio.median, 3),
      limited ? percent(rate.median / FORMAT_LIMIT) : '',
      verdict(sample),
    ];
  });
  return formatTable(header, rows);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
