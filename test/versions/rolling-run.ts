import { setTimeout as sleep } from 'node:timers/promises';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { faultsOf, type StoredLine, type StoredNumber } from '../long/numbers/checker';
import { connect } from '../support/contract/sql-stores';
import { Fleet, type Roots } from './fleet';
import { HttpCaller } from './http-caller';
import { JavaCaller } from './java-caller';
import { Ledger } from './ledger';
import type { Pair, Place } from './pairs';
import { GAPLESS, type Version } from './tags';

const CALLERS = 6;
/** Share of the calls that all servers may refuse. */
export const BUDGET = 0.0005;
/** The way there and back and there. */
const ROLLS: readonly Version[] = ['new', 'old', 'new'];

export interface RollingOptions {
  readonly roots: Roots;
  readonly pair: Pair;
  readonly minutes: number;
  readonly say: (line: string) => void;
}

export interface RollingOutcome {
  readonly pair: string;
  readonly minutes: number;
  readonly restarts: number;
  readonly kills: number;
  readonly slowestMs: number;
  readonly calls: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly refusals: number;
  /** Refusals by the older version of tags whose settings it does not know. */
  readonly unknown: Readonly<Record<string, number>>;
  /** Attempts of the Java service on rows with settings; undefined without it. */
  readonly java: number | undefined;
  readonly ids: Readonly<Record<'tags' | 'snowflake' | 'numbers', number>>;
  readonly duplicates: readonly string[];
  readonly disorder: readonly string[];
  /** Everything else that must not be; empty if the run passed. */
  readonly faults: readonly string[];
  readonly complaints: readonly string[];
}

/** Replaces one member of a fleet after the other, under load, by the newer version, and back, and again. */
export async function runRolling({ roots, pair, minutes, say }: RollingOptions): Promise<RollingOutcome> {
  const place = await pair.open();
  try {
    const ledger = new Ledger();
    const fleet = await Fleet.start(roots, pair, place, ledger);
    say(`${pair.name}: all of the older version serve; it does not know ${[...fleet.unknown].join(', ') || 'nothing'}`);
    let running = true;
    const isRunning = (): boolean => running;
    const callers = Array.from({ length: CALLERS }, (_, n) => new HttpCaller(`caller ${n}`, fleet, ledger));
    const java = place.url.startsWith('sqlite') ? undefined : new JavaCaller(place.url, ledger);
    const loads = [...callers, ...(java ? [java] : [])].map((caller) => caller.run(isRunning));
    const load = Promise.all(loads);
    const began = performance.now();
    try {
      await Promise.race([load, roll(fleet, minutes, say)]);
    } catch (error) {
      for (const line of fleet.complaints()) say(line);
      throw error;
    } finally {
      running = false;
      await load.finally(() => fleet.end());
    }
    const numbers = callers.flatMap((caller) => caller.numbers);
    const gapless = await storedNumbers(place);
    const faults = faultsOf({ tag: GAPLESS, given: numbers, documents: new Map(), ...gapless });
    return {
      ...{ pair: pair.name, minutes: (performance.now() - began) / 60_000, java: java?.refused },
      ...{ restarts: fleet.restarts, kills: fleet.kills, slowestMs: Math.round(fleet.slowestMs) },
      ...outcomeOf(ledger, numbers.length, faults),
      complaints: fleet.complaints(),
    };
  } finally {
    await place.stop();
  }
}

/** Each member is restarted three times; in each roll one of the servers is killed. */
async function roll(fleet: Fleet, minutes: number, say: (line: string) => void): Promise<void> {
  const began = performance.now();
  const steps = ROLLS.length * (fleet.members + 1);
  let step = 0;
  const pause = async (): Promise<void> => {
    step++;
    await sleep(Math.max(500, began + (step / steps) * minutes * 60_000 - performance.now()));
  };
  for (const [turn, version] of ROLLS.entries()) {
    await pause();
    for (let member = 0; member < fleet.members; member++) {
      await fleet.replace(member, version, member === turn ? 'SIGKILL' : 'SIGTERM');
      await pause();
    }
    say(`${Math.round((performance.now() - began) / 1000)} s: all are of the ${version} version`);
  }
}

function outcomeOf(
  ledger: Ledger,
  numbers: number,
  gapless: readonly string[],
): Pick<RollingOutcome, 'calls' | 'refused' | 'refusals' | 'unknown' | 'ids' | 'duplicates' | 'disorder' | 'faults'> {
  const { calls, refused, refusals, unknown, history } = ledger;
  const sum = (prefix: string): number => Number(history.idsOf((space) => space.startsWith(prefix)));
  const over = refusals > calls * BUDGET ? [`${refusals} of ${calls} calls were refused by all servers`] : [];
  return {
    ...{ calls, refusals, refused: Object.fromEntries(refused), unknown: Object.fromEntries(unknown) },
    ids: { tags: sum('tag'), snowflake: sum('snowflake'), numbers: sum('period') + numbers },
    ...{ duplicates: ledger.duplicates(), disorder: ledger.disorder() },
    faults: [...ledger.faults, ...gapless, ...over],
  };
}

async function storedNumbers({ url }: Place): Promise<{ numbers: StoredNumber[]; lines: StoredLine[] }> {
  const dataSource = await connect(parseDatabaseUrl(url), false);
  try {
    const where = `WHERE biz_tag = '${GAPLESS}'`;
    return {
      numbers: await dataSource.query<StoredNumber[]>(`SELECT * FROM leaf_number ${where}`),
      lines: await dataSource.query<StoredLine[]>(`SELECT * FROM leaf_number_journal ${where}`),
    };
  } finally {
    await dataSource.destroy();
  }
}
