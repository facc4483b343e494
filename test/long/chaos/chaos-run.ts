import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Starvation } from '../../support/starvation';
import { checkTraces, type TraceCheck } from '../../support/step-traces';
import { until } from '../../support/until';
import type { Plan } from './faults/fault';
import type { FaultRecord } from './history/fault-record';
import { Calm } from './history/calm';
import { History } from './history/history';
import { Judge } from './history/judge';
import { Load } from './load/load';
import { Books } from './load/recorder';
import { kindsOf, type Round, rounds } from './schedule';
import type { CoordinatorKind } from './world/coordinator';
import type { DatabaseKind } from './world/database';
import { ChaosWorld, stepsOf } from './world/world';

export interface ChaosOptions {
  readonly database: DatabaseKind;
  readonly coordinator: CoordinatorKind;
  readonly seed: number;
  readonly minutes: number;
  /** The kinds of faults; all that there are with this database and coordinator when left out. */
  readonly kinds?: readonly string[];
  /** Others use this machine at the same time: refusals for want of time are no surprise then. */
  readonly busy: boolean;
  /** The program of the servers. */
  readonly serverFile: string;
  /** For logs and reports. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** What came of a run. */
export interface ChaosOutcome {
  readonly books: Books;
  readonly durationMs: number;
  /** Changes of tags that were made, by what was done. */
  readonly tagChanges: Readonly<Record<string, number>>;
  readonly rounds: number;
  /** Kinds that were wanted and that this machine does not allow. */
  readonly impossible: readonly string[];
  /** How often a server ended that nobody had ended, and was started again. */
  readonly failedStarts: number;
  /** Why the run ended before its time: something never served again. */
  readonly stuck: string | undefined;
  /** Callers that went without IDs for too long in the calm part. */
  readonly late: readonly string[];
  /** Whether the steps of the servers are behaviours of the model. */
  readonly traces: TraceCheck;
}

/** Between two rounds. */
const CALM_MS = 300;
/** At the end: no fault lasts any more. */
const CALM_PART_MS = 20_000;
const LOOK_MS = 100;
const WARM_UP_MS = 3000;
const PROGRESS_MS = 10_000;
/** Many times what any recovery takes, on any machine. */
const RECOVERY_LIMIT_MS = 120_000;

export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const steps = stepsOf(options.folder);
  await rm(steps, { recursive: true, force: true });
  const world = await ChaosWorld.start(options.database, options.coordinator, options.serverFile, options.folder);
  const outcome = await new ChaosRun(world, options).play().finally(() => world.stop());
  return { ...outcome, traces: await checkTraces(steps) };
}

type Recovery = Required<Pick<FaultRecord, 'recoveredAt' | 'recoveryMs' | 'starvedMs' | 'lastTrouble'>>;

class ChaosRun {
  private readonly books: Books;
  private readonly load: Load;
  private toldAt = 0;

  constructor(
    private readonly world: ChaosWorld,
    private readonly options: ChaosOptions,
  ) {
    this.books = new Books(new History(), new Judge(options.busy));
    this.load = new Load(world, this.books, options.seed);
  }

  async play(): Promise<Omit<ChaosOutcome, 'traces'>> {
    const { database, coordinator, seed, minutes } = this.options;
    const wanted = this.options.kinds ?? kindsOf(database, coordinator);
    const possible = wanted.filter((kind) => this.world.disks.size > 0 || !kind.startsWith('disk-'));
    const end = minutes * 60_000;
    let played = 0;
    let stuck: string | undefined;
    await sleep(WARM_UP_MS);
    for (const round of rounds(seed, possible)) {
      if (this.books.now() >= end || stuck !== undefined) break;
      stuck = await this.playRound(round).then(() => undefined, String);
      played++;
      await sleep(CALM_MS);
      this.tell();
    }
    const late = stuck === undefined ? await this.calmPart() : [];
    const durationMs = this.books.now();
    await this.load.end();
    return {
      books: this.books,
      durationMs,
      tagChanges: this.load.tagChanger.made,
      rounds: played,
      impossible: wanted.filter((kind) => !possible.includes(kind)),
      failedStarts: this.world.servers.reduce((sum, { failedStarts }) => sum + failedStarts, 0),
      stuck,
      late,
    };
  }

  /** Everything serves again: every caller has to get IDs all the time, and none is refused. */
  private async calmPart(): Promise<readonly string[]> {
    // While a replica is being made, nobody can commit for a moment.
    await this.world.database.whole();
    const calm = new Calm();
    const end = this.books.now() + CALM_PART_MS;
    this.books.judge.calmSince = this.books.now();
    while (this.books.now() < end) {
      calm.look(this.books.now(), this.load.recorders);
      await sleep(LOOK_MS);
    }
    return calm.late;
  }

  private async playRound({ first, second, offsetMs }: Round): Promise<void> {
    const plans = second === undefined ? [first] : [first, second];
    // Nobody fails over to a replica that is being made.
    if (plans.some(({ parts }) => parts.includes('database'))) await this.world.database.whole();
    const paired = second !== undefined;
    const records = await Promise.all([
      this.playOne(first, paired),
      ...(second === undefined ? [] : [sleep(offsetMs).then(() => this.playOne(second, paired))]),
    ]);
    const endedAt = Math.max(...records.map((record) => record.endedAt!));
    const recovery = await this.recovery(endedAt, plans);
    for (const record of records) Object.assign(record, recovery);
  }

  private async playOne(plan: Plan, paired: boolean): Promise<FaultRecord> {
    const fault = plan.arm(this.world);
    const beganAt = this.books.now();
    const open = { endedAt: undefined, recoveredAt: undefined, recoveryMs: undefined };
    const unknown = { starvedMs: undefined, lastTrouble: undefined };
    const record: FaultRecord = { plan, fault, paired, beganAt, ...open, ...unknown };
    this.books.judge.records.push(record);
    await fault.begin();
    await sleep(plan.holdMs);
    record.endedAt = this.books.now();
    await fault.end();
    return record;
  }

  /** Resolves when every edge serves again. */
  private async recovery(endedAt: number, plans: readonly Plan[]): Promise<Recovery> {
    let lastTrouble: string | undefined;
    const starvation = new Starvation();
    const served = async (): Promise<Recovery | undefined> => {
      const recoveredAt = this.books.now();
      let trouble = await this.world.trouble();
      if (trouble === undefined && !this.load.servedSince(endedAt)) trouble = 'a caller waits for its next answer';
      lastTrouble = trouble ?? lastTrouble;
      if (trouble !== undefined) return undefined;
      return { recoveredAt, recoveryMs: recoveredAt - endedAt, starvedMs: starvation.ms, lastTrouble };
    };
    return until('recovery', served, RECOVERY_LIMIT_MS).catch((error: unknown) => {
      const what = plans.map(({ kind, detail }) => `${kind} ${detail}`).join(' and ');
      throw new Error(`After ${what}: ${String(error)}; ${lastTrouble ?? ''}`, { cause: error });
    });
  }

  private tell(): void {
    const now = this.books.now();
    if (now < this.toldAt + PROGRESS_MS) return;
    this.toldAt = now;
    const { history, judge } = this.books;
    const unexpected = judge.all().filter(({ expected }) => !expected).length;
    const newest = judge.records.at(-1);
    this.options.say(
      `${(now / 1000).toFixed(0).padStart(5)} s  ${String(judge.records.length).padStart(4)} faults  ` +
        `${String(history.ids).padStart(9)} IDs  ${history.descents.length} out of order  ` +
        `${unexpected} unexpected  last: ${newest?.plan.kind ?? ''} ${newest?.plan.detail ?? ''}`,
    );
  }
}
