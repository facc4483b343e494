import { SeededRandom } from '../../support/seeded-random';
import { CLOCK_FAULTS } from './faults/clock-faults';
import { DATABASE_FAULTS, POOLER_FAULTS } from './faults/database-faults';
import { DISK_FAULTS } from './faults/disk-faults';
import { EDGE_FAULTS } from './faults/edge-faults';
import type { Draw, Plan } from './faults/fault';
import { ETCD_FAULTS } from './faults/etcd-faults';
import { LOST_HISTORY, ZOOKEEPER_FAULTS } from './faults/fleet-faults';
import { OPERATOR_FAULTS } from './faults/operator-faults';
import { SERVER_FAULTS } from './faults/server-faults';
import type { CoordinatorKind } from './world/coordinator';
import type { DatabaseKind } from './world/database';

/** Every kind of fault, by the parts that they break. */
const DRAWS: readonly Draw[] = [
  ...SERVER_FAULTS,
  ...CLOCK_FAULTS,
  ...EDGE_FAULTS,
  ...DATABASE_FAULTS,
  ...ZOOKEEPER_FAULTS,
  ...LOST_HISTORY,
  ...DISK_FAULTS,
  ...OPERATOR_FAULTS,
  ...POOLER_FAULTS,
  ...ETCD_FAULTS,
];

export const KINDS: readonly string[] = DRAWS.map(kindOf);

const OF_POOLER = POOLER_FAULTS.map(kindOf);

/** The kinds of faults that there are with this database and coordinator. */
export function kindsOf(database: DatabaseKind, coordinator: CoordinatorKind): readonly string[] {
  const missing = coordinator === 'etcd' ? /^zookeeper-/ : /^(etcd|kubernetes)-/;
  return KINDS.filter((kind) => !missing.test(kind) && (database === 'postgres' || !OF_POOLER.includes(kind)));
}

/** Share of the rounds in which a second fault begins while the first one lasts. */
const PAIRS = 0.25;

/** What happens in one round: one fault, or two that overlap. */
export interface Round {
  readonly first: Plan;
  readonly second: Plan | undefined;
  /** From the begin of the first one to that of the second, in milliseconds. */
  readonly offsetMs: number;
}

/**
 * The rounds of a seed, without an end: all kinds in turn, shuffled anew each time, so that every kind comes equally
 * often. The same seed and kinds give the same rounds.
 *
 * @param kinds those that are possible and wanted
 */
export function* rounds(seed: number, kinds: readonly string[]): Generator<Round, never> {
  const random = new SeededRandom(seed);
  const draws = DRAWS.filter((_, index) => kinds.includes(KINDS[index]!));
  const deck: Draw[] = [];
  const deal = (): Plan => {
    if (deck.length === 0) deck.push(...shuffled(draws, random));
    return deck.pop()!(random);
  };
  let next: Plan | undefined;
  for (;;) {
    const first: Plan = next ?? deal();
    next = undefined;
    let second = random.chance(PAIRS) ? deal() : undefined;
    if (second?.parts.some((part) => first.parts.includes(part)) === true) {
      next = second;
      second = undefined;
    }
    yield { first, second, offsetMs: 100 * random.below(1 + first.holdMs / 100) };
  }
}

function shuffled(draws: readonly Draw[], random: SeededRandom): Draw[] {
  const all = [...draws];
  for (let i = all.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    [all[i], all[other]] = [all[other]!, all[i]!];
  }
  return all;
}

function kindOf(draw: Draw): string {
  return draw(new SeededRandom(0)).kind;
}
