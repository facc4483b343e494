import { parseArgs } from 'node:util';
import type { Contender } from './core/contender';
import { leafContenders } from './core/leaf-contenders';
import { counter, peerContenders } from './core/peer-contenders';
import { measureRounds } from './core/rounds';
import { sampleOf, verdict, type Sample } from './core/sample';
import { describeEnvironment, readEnvironment } from './report/environment';
import { writeResults } from './report/results-file';
import { ratios, summarize, type Summary } from './report/summary';
import { decimals, formatTable, percent, whole } from './report/table';

/** 4096 sequence numbers a millisecond. */
const FORMAT_LIMIT = 4_096_000;
/** Each millisecond starts at a random number from 0 to 99: 49.5 fewer on average. */
const REACHABLE_LIMIT = 4_046_500;
/** More than a segment, so that the sample contains a switch. */
const SAMPLE_SIZE = 1_200_000;

interface Result {
  readonly contender: Contender;
  readonly rates: readonly number[];
  readonly rate: Summary;
  /** To the counter of the same round. */
  readonly ratio: Summary;
  readonly sample: Sample;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const { rounds, roundMs } = values.quick ? { rounds: 3, roundMs: 100 } : { rounds: 7, roundMs: 500 };
  const environment = readEnvironment();
  console.log(describeEnvironment(environment));

  const baseline = counter();
  const contenders = [baseline, ...leafContenders(), ...peerContenders()];
  const onRound = (round: number): void => console.error(`round ${round + 1} of ${rounds} …`);
  const measured = await measureRounds(contenders, { rounds, roundMs, onRound });
  const baselineRates = measured.get(baseline) ?? [];

  const results: Result[] = [];
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

  console.log(`\n${rounds} rounds of ${roundMs} ms each, one thread. Sample: ${whole(SAMPLE_SIZE)} IDs.\n`);
  console.log(table(results));
  console.log(`\nof format: of the ${whole(FORMAT_LIMIT)} IDs/s of a worker that 12 sequence bits allow;`);
  console.log(`of reachable: of the ${whole(REACHABLE_LIMIT)} IDs/s that the random start of a millisecond leaves.`);
  const rows = results.map(({ contender: { name, group, product }, ...figures }) => ({
    name,
    group,
    product,
    ...figures,
  }));
  console.log(`Written to ${writeResults('core', { environment, rounds, roundMs, results: rows })}`);

  const broken = results.filter(({ contender, sample }) => contender.group.startsWith('leaf') && sample.duplicates > 0);
  for (const { contender, sample } of broken) console.error(`FAILED: ${contender.name}: ${verdict(sample)}`);
  if (broken.length > 0) process.exitCode = 1;
}

function table(results: readonly Result[]): string {
  const header = ['contender', 'gives', 'IDs/s', 'min..max', 'of counter', 'of format', 'of reachable', 'sample'];
  const rows = results.map(({ contender, rate, ratio, sample }) => {
    const limited = contender.group === 'leaf-snowflake';
    return [
      contender.name,
      contender.product,
      whole(rate.median),
      `${whole(rate.min)}..${whole(rate.max)}`,
      decimals(ratio.median, 3),
      limited ? percent(rate.median / FORMAT_LIMIT) : '',
      limited ? percent(rate.median / REACHABLE_LIMIT) : '',
      verdict(sample),
    ];
  });
  return formatTable(header, rows);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
