import { ratios, summarize, type Summary } from '../report/summary';
import { atLeast, type Figure, figure, type Target } from '../report/targets';
import type { Contender } from './contender';
import { type Sample, verdict } from './sample';

/** 4096 sequence numbers a millisecond. */
export const FORMAT_LIMIT = 4_096_000;
/** Each millisecond starts at a random number from 0 to 99: 49.5 fewer on average. */
export const REACHABLE_LIMIT = 4_046_500;

export interface CoreResult {
  readonly contender: Contender;
  readonly rates: readonly number[];
  readonly rate: Summary;
  /** To the counter of the same round. */
  readonly ratio: Summary;
  readonly sample: Sample;
}

const BIGINT_SHARE = 0.99;
const STRING_SHARE = 0.97;
const SEGMENT_RATE = 30_000_000;
const SEGMENT_SHARE = 0.5;

/** The results as they are listed: the counter, then Leaf's, then the peers. */
export function coreTargets(results: readonly CoreResult[]): Target[] {
  const find = (name: string): CoreResult => results.find(({ contender }) => contender.name.includes(name))!;
  const bigints = find('snowflake next()');
  const strings = find('snowflake nextString()');
  const segment = find('segment tryNext');
  const reachable = ({ rate }: CoreResult): number => rate.median / REACHABLE_LIMIT;
  const peers = results.filter(({ contender }) => contender.group === 'peer');
  return [
    atLeast(`${bigints.contender.name}, of reachable`, reachable(bigints), BIGINT_SHARE, 'ratio'),
    atLeast(`${strings.contender.name}, of reachable`, reachable(strings), STRING_SHARE, 'ratio'),
    atLeast(segment.contender.name, segment.rate.median, SEGMENT_RATE, 'IDs/s'),
    atLeast(`${segment.contender.name}, of counter++ as bigint`, segment.ratio.median, SEGMENT_SHARE, 'ratio'),
    ...peers.map((peer) => ahead(peer, peer.contender.product.startsWith('string') ? strings : bigints, segment)),
  ];
}

/**
 * Beside a snowflake of the same kind, since that needs no store either. A peer that repeats itself is not held to the
 * limit of the format, which is what keeps a snowflake unique; beside it stands what has no such limit.
 */
function ahead(peer: CoreResult, snowflake: CoreResult, segment: CoreResult): Target {
  const ours = peer.sample.duplicates === 0 ? snowflake : segment;
  const ratio = summarize(ratios(ours.rates, peer.rates)).median;
  return atLeast(`${ours.contender.name}, of ${peer.contender.name} (${verdict(peer.sample)})`, ratio, 1, 'ratio');
}

export function coreFigures(results: readonly CoreResult[]): Figure[] {
  return results.flatMap(({ contender: { name }, rate, ratio }) => [
    figure(name, rate.median, 'IDs/s'),
    figure(`${name}, of counter`, ratio.median, 'ratio'),
  ]);
}
