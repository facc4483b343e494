import { ratios, summarize, type Summary } from '../report/summary';
import { atLeast, type Figure, figure, type Target } from '../report/targets';
import type { Contender } from './contender';
import { type Sample, verdict } from './sample';

/** 4096 sequence numbers per millisecond. */
export const FORMAT_LIMIT = 4_096_000;

export interface CoreResult {
  readonly contender: Contender;
  readonly rates: readonly number[];
  readonly rate: Summary;
  /** Ratio to the counter in the same round. */
  readonly ratio: Summary;
  readonly sample: Sample;
}

const BIGINT_SHARE = 0.99;
const STRING_SHARE = 0.97;
const SEGMENT_RATE = 30_000_000;
const SEGMENT_SHARE = 0.5;
const NUMBER_RATE = 150_000_000;

/** Sorts the results: the counter, then Leaf, then the peers. */
export function coreTargets(results: readonly CoreResult[]): Target[] {
  const seek = (name: string): CoreResult | undefined => results.find(({ contender }) => contender.name.includes(name));
  const find = (name: string): CoreResult => seek(name)!;
  const numbers = seek('segment tryNextNumber');
  const bigints = find('snowflake next()');
  const strings = find('snowflake nextString()');
  const segment = find('segment tryNext(');
  const segmentText = find('segment String');
  const ofFormat = ({ rate }: CoreResult): number => rate.median / FORMAT_LIMIT;
  const peers = results.filter(({ contender }) => contender.group === 'peer');
  const numberRate = Math.min(NUMBER_RATE, find('counter.tryNext').rate.median);
  return [
    ...(numbers === undefined ? [] : [atLeast(numbers.contender.name, numbers.rate.median, numberRate, 'IDs/s')]),
    atLeast(`${bigints.contender.name}, of the format's limit`, ofFormat(bigints), BIGINT_SHARE, 'ratio'),
    atLeast(`${strings.contender.name}, of the format's limit`, ofFormat(strings), STRING_SHARE, 'ratio'),
    atLeast(segment.contender.name, segment.rate.median, SEGMENT_RATE, 'IDs/s'),
    atLeast(`${segment.contender.name}, of counter++ as bigint`, segment.ratio.median, SEGMENT_SHARE, 'ratio'),
    ...peers.map((peer) => {
      if (peer.contender.product.startsWith('string')) return ahead(peer, segmentText);
      return ahead(peer, peer.sample.duplicates === 0 ? bigints : segment);
    }),
  ];
}

/**
 * Compares peers that count within each millisecond with snowflake IDs. Peers that produce duplicates or random strings
 * have no limit per millisecond, so they are compared with segment IDs, which have no such limit either.
 */
function ahead(peer: CoreResult, ours: CoreResult): Target {
  const ratio = summarize(ratios(ours.rates, peer.rates)).median;
  return atLeast(`${ours.contender.name}, of ${peer.contender.name} (${verdict(peer.sample)})`, ratio, 1, 'ratio');
}

export function coreFigures(results: readonly CoreResult[]): Figure[] {
  return results.flatMap(({ contender: { name }, rate, ratio }) => [
    figure(name, rate.median, 'IDs/s'),
    figure(`${name}, of counter`, ratio.median, 'ratio'),
  ]);
}
