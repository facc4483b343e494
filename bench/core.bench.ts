import {
  contenderFaults,
  contenderFigures,
  type ContenderResult,
  describeContenders,
  FORMAT_LIMIT,
  measureContenders,
  verdict,
} from './core/contender';
import { leafContenders } from './core/leaf-contenders';
import { counter, namedCounter, PEER_PACKAGES, peerContenders } from './core/peer-contenders';
import { runPart } from './harness';
import { packageVersion } from './http/load-generator';
import { atLeast, ratios, summarize, type Target } from './report/figures';

const BIGINT_SHARE = 0.99;
const STRING_SHARE = 0.97;
const SEGMENT_RATE = 30_000_000;
const SEGMENT_SHARE = 0.5;
const NUMBER_RATE = 150_000_000;

runPart('core', { full: { rounds: 7, roundMs: 500 }, quick: { rounds: 3, roundMs: 100 } }, async (plan) => {
  const results = await measureContenders([counter(), namedCounter(), ...leafContenders(), ...peerContenders()], plan);
  const peers = PEER_PACKAGES.map((name) => `${name} ${packageVersion(name)}`).join(', ');
  return {
    text: `peers: ${peers}\n${describeContenders(results)}`,
    targets: coreTargets(results),
    figures: contenderFigures(results),
    details: { results },
    faults: contenderFaults(results),
  };
});

function coreTargets(results: readonly ContenderResult[]): Target[] {
  const find = (name: string): ContenderResult => results.find(({ contender }) => contender.name.includes(name))!;
  const numbers = find('segment tryNextNumber');
  const bigints = find('snowflake next()');
  const strings = find('snowflake nextString()');
  const segment = find('segment tryNext(');
  const segmentText = find('segment String');
  const ofFormat = ({ rate }: ContenderResult): number => rate.median / FORMAT_LIMIT;
  const peers = results.filter(({ contender }) => contender.group === 'peer');
  const numberRate = Math.min(NUMBER_RATE, find('counter.tryNext').rate.median);
  return [
    atLeast(numbers.contender.name, numbers.rate.median, numberRate, 'IDs/s'),
    atLeast(`${bigints.contender.name}, of the format's limit`, ofFormat(bigints), BIGINT_SHARE, 'ratio'),
    atLeast(`${strings.contender.name}, of the format's limit`, ofFormat(strings), STRING_SHARE, 'ratio'),
    atLeast(segment.contender.name, segment.rate.median, SEGMENT_RATE, 'IDs/s'),
    atLeast(`${segment.contender.name}, of counter++ as bigint`, segment.ratio.median, SEGMENT_SHARE, 'ratio'),
    ...peers.map((peer) => {
      if (peer.contender.product.startsWith('string')) return ahead(peer, segmentText);
      return ahead(peer, peer.duplicates === 0 ? bigints : segment);
    }),
  ];
}

/**
 * Compares peers that count within each millisecond with snowflake IDs. Peers that produce duplicates or random strings
 * have no limit per millisecond, so they are compared with segment IDs, which have no such limit either.
 */
function ahead(peer: ContenderResult, ours: ContenderResult): Target {
  const ratio = summarize(ratios(ours.rates, peer.rates)).median;
  return atLeast(`${ours.contender.name}, of ${peer.contender.name} (${verdict(peer)})`, ratio, 1, 'ratio');
}
