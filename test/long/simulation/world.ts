import {
  formatInstance,
  type LeafError,
  type RegistryDocument,
  type StoredWorker,
  type WorkerStore,
} from '@leaf-ids/core';
import { reasonOf, windowOf } from '@leaf-ids/core/internal';
import { Clients } from './clients/clients';
import { type Conditions, LAYOUTS, sinceStart, START } from './conditions';
import { drawWorld } from './draw';
import type { ExcuseCounts } from './excuses';
import { type Fault, type FaultCounts, noFaults } from './faults';
import { inject, setRight } from './injector';
import type { Host, SimPlace, WorldParts } from './places';
import { type Breach, type Failure, Ledger } from './ledger';
import { Liveness } from './liveness';
import { Line, Network } from './network';
import { type Note, Scheduler, type StepListener } from './scheduler';
import { SeededRandom } from '../../support/seeded-random';
import { SimClock } from './sim-clock';
import { notInPlace } from './sim-disk';
import { SimProcess, type Surroundings } from './sim-process';
import { SimServer, type WriteListener } from './sim-server';
import { type Carry, SimStore } from './sim-store';
import { noTally, type Tally } from './tally';

export interface SimulationOptions {
  /** The faults that happen; left out: all that the seed draws. */
  readonly faults?: readonly Fault[];
  /** Breaches of other kinds do not end it. */
  readonly until?: readonly Breach[];
  readonly onStep?: StepListener;
  readonly onNote?: (text: string) => void;
}

export interface SimulationResult {
  readonly seed: number;
  readonly conditions: Conditions;
  readonly schedule: readonly Fault[];
  readonly steps: number;
  readonly tally: Tally;
  readonly faults: FaultCounts;
  readonly excused: ExcuseCounts;
  readonly failure: Failure | undefined;
}

/** Ten times what a long world takes. */
const MOST_STEPS = 200_000;

/** Plays one seed. The same seed with the same faults always runs the same way. */
export function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  return new SimulationWorld(seed, options).run();
}

/** Hosts, each with a clock and one or several servers; a registry; the network between them; and the faults. */
export class SimulationWorld implements Surroundings, WriteListener, WorldParts {
  readonly random: SeededRandom;
  readonly conditions: Conditions;
  readonly tally: Tally = noTally();
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly network: Network;
  readonly server: SimServer;
  readonly note: Note | undefined;
  readonly hosts: Host[] = [];
  readonly places: SimPlace[] = [];
  /** True milliseconds at which history was lost last. */
  lossAt: number | undefined;
  readonly clients: Clients;
  private readonly schedule: readonly Fault[];
  private readonly counts = noFaults();
  private readonly liveness: Liveness;
  private started = 0;
  /** True milliseconds at which each lease, and each worker, was written last. */
  private readonly leaseWrites = new Map<string, number>();
  private readonly workerWrites = new Map<number, number>();

  constructor(
    private readonly seed: number,
    options: SimulationOptions,
  ) {
    const { conditions, faults } = drawWorld(new SeededRandom(seed));
    this.conditions = conditions;
    this.schedule = options.faults ?? faults;
    this.random = new SeededRandom(seed ^ 0x5bd1e995);
    this.ledger = new Ledger(options.until, conditions.strategy === 'fixed with file');
    const onError = (error: unknown): void => this.ledger.breach('error', reasonOf(error));
    this.scheduler = new Scheduler(this.random, onError, options.onStep);
    const { onNote } = options;
    this.note = onNote && ((text) => onNote(text()));
    this.network = new Network(this.scheduler, conditions.timeoutMs, this.note);
    this.server = new SimServer(this, 0);
    this.liveness = new Liveness(this);
    for (let host = 0; host < conditions.hosts; host++) this.addHost(host);
    this.clients = new Clients(this);
  }

  async run(): Promise<SimulationResult> {
    const { scheduler, conditions, ledger, seed, tally } = this;
    for (const fault of this.schedule) {
      scheduler.at(fault.at, fault.kind, () => {
        this.counts[fault.kind]++;
        inject(this, fault);
      });
    }
    scheduler.at(conditions.faultyMs, 'faults end', () => this.heal());
    const end = conditions.faultyMs + conditions.boundMs + 8 * conditions.reportMs + conditions.askMs;
    await scheduler.run(() => {
      if (scheduler.steps > MOST_STEPS) ledger.breach('error', `It is not over after ${scheduler.steps} steps`);
      return ledger.failure !== undefined || scheduler.now >= end;
    });
    for (const place of this.places) this.liveness.check(place, undefined);
    this.liveness.checkAbandoned(this.workerWrites);
    return {
      ...{ seed, conditions, schedule: this.schedule, steps: scheduler.steps, tally },
      ...{ faults: this.counts, excused: ledger.excused, failure: ledger.failure },
    };
  }

  storeOf(process: SimProcess): WorkerStore {
    const sources = (): ReturnType<Surroundings['timeSources']> => this.timeSources(process);
    if (this.conditions.strategy !== 'local') {
      const carry: Carry = (label, operation, isWrite) => this.network.call(process, label, operation, isWrite);
      return new SimStore('the registry', this.server, process, carry, sources, this.conditions.readsByInstance);
    }
    const { disk } = process.place;
    const { directory } = disk;
    const carry: Carry = (label, operation) =>
      new Promise((resolve, reject) => {
        const act = (): void => (disk.directory === directory ? resolve(operation()) : reject(notInPlace()));
        this.scheduler.at(process.clock.local + process.random.spread(0.05, 10), label, act, process);
      });
    return new SimStore('a directory', directory.server, process, carry, sources, false);
  }

  timeSources(asking?: SimProcess): ReturnType<Surroundings['timeSources']> {
    const others = this.places.filter(({ process }) => process?.alive && process !== asking);
    if (asking === undefined) return [];
    return others.map((place) => ({
      name: formatInstance(place.instance),
      ask: () => this.network.ask(asking, () => place.process),
    }));
  }

  start(place: SimPlace): void {
    if (place.process?.alive || this.ledger.failure !== undefined) return;
    place.process = new SimProcess(`${place.name}#${++this.started}`, this.random.bits(), place, this);
    place.processes.push(place.process);
  }

  missedGrace(process: SimProcess): boolean {
    const { lossAt, server } = this;
    const place = this.places.find((each) => each.process === process);
    if (lossAt === undefined || place === undefined || server.registry().document?.floor === undefined) return false;
    return this.wasKept(place) && place.processes.every(({ name }) => !this.wroteSince(name, lossAt));
  }

  ended(process: SimProcess): void {
    const place = this.places.find((each) => each.process === process);
    if (place === undefined) return;
    const { refused } = process;
    // As an operator does who follows the message.
    if (refused?.code === 'LEAF_WORKER_FILE_INVALID') place.disk.directory = this.newDirectory(place.index);
    if (refused !== undefined) this.liveness.check(place, refused);
    const delay = this.random.spread(100, 10_000);
    this.scheduler.at(this.scheduler.now + delay, `start ${place.name}`, () => this.start(place));
  }

  asked(process: SimProcess, refusal: LeafError | undefined): void {
    const place = this.places.find((each) => each.process === process);
    if (place !== undefined) this.liveness.asked(place, process, refusal);
  }

  wrote(writer: string, before: StoredWorker | undefined, after: StoredWorker, isLate: boolean): void {
    const { scheduler, ledger, conditions, leaseWrites, lossAt } = this;
    const { leaseId = '', write, free } = after.record;
    if (windowOf(after.record) !== undefined) this.clients.wrote(writer, before, after);
    else if (writer === leaseId) ledger.wrote(before, after, isLate);
    else if (free && before?.record.write === write && !before.record.free) {
      const age = scheduler.now - (this.workerWrites.get(after.workerId) ?? 0);
      const what = `${writer} frees worker ${after.workerId}, which ${leaseId} wrote ${Math.round(age)} ms ago`;
      if (age < conditions.horizonMs * 0.9) ledger.breach('reclaim', what);
    }
    if (lossAt !== undefined && (leaseWrites.get(writer) ?? Infinity) < lossAt && writer === leaseId)
      this.tally.reregistered++;
    if (writer === leaseId) leaseWrites.set(leaseId, scheduler.now);
    this.workerWrites.set(after.workerId, scheduler.now);
  }

  /** Notes, when a floor is written, which holders have not registered again, and how far apart the clocks are. */
  floorWritten({ floor = 0 }: RegistryDocument): void {
    const { conditions, lossAt, ledger } = this;
    if (conditions.strategy === 'local') return;
    this.note?.(() => `newcomers issue above ${sinceStart(floor)}`);
    const walls = this.places.map(({ clock }) => (clock.refresh(), clock.shown));
    const newest = Math.max(ledger.newest, ...walls);
    if (Math.max(newest, floor) - Math.min(floor, ...walls) > conditions.maxClockOffsetMs) ledger.clocksApart = true;
    this.clients.floorWritten();
    if (lossAt === undefined) return;
    for (const place of this.places) {
      if (!this.wasKept(place)) continue;
      for (const { name, alive, issuer } of place.processes) {
        if (alive && issuer !== undefined && !this.wroteSince(name, lossAt)) issuer.missedGrace = true;
      }
    }
  }

  /** Whether something kept a server from the registry after history was lost. */
  private wasKept({ line, touchedUntil }: SimPlace): boolean {
    const { lossAt = Infinity } = this;
    return line.failedAt >= lossAt || line.cutUntil > lossAt || touchedUntil > lossAt;
  }

  private wroteSince(leaseId: string, lossAt: number): boolean {
    return (this.leaseWrites.get(leaseId) ?? 0) >= lossAt;
  }

  newDirectory(index: number): SimPlace['disk']['directory'] {
    return { record: undefined, lockedBy: undefined, server: new SimServer(this, index) };
  }

  private addHost(index: number): void {
    const { conditions, random } = this;
    const host: Host = { index, offset: conditions.offsets[index] ?? 0, isWrong: false, ahead: 0, places: [] };
    this.hosts.push(host);
    for (let process = 0; process < conditions.processes; process++) {
      const number = this.places.length;
      const ip = `10.0.0.${conditions.twins && index === 1 ? 0 : index}`;
      const place: SimPlace = {
        ...{ name: `h${index}${process === 0 ? '' : `p${process}`}`, host: index, index: number, machine: host },
        instance: { ip, port: 8080 + process },
        layout: LAYOUTS[conditions.layouts && index === 1 ? 1 : 0],
        clock: new SimClock(this.scheduler, START + host.offset),
        line: new Line(),
        disk: { directory: this.newDirectory(number) },
        ...{ copied: false, process: undefined, processes: [], touchedUntil: 0, servedAt: 0, askedAt: 0 },
      };
      this.places.push(place);
      host.places.push(place);
      const at = random.chance(0.5) ? 0 : random.fraction() * 5 * conditions.reportMs;
      this.scheduler.at(at, `start ${place.name}`, () => this.start(place));
    }
  }

  /** Sets clocks right, and repairs the network. */
  private heal(): void {
    const { now } = this.scheduler;
    this.network.downUntil = now;
    for (const { line } of this.places) {
      line.cutUntil = Math.min(line.cutUntil, now);
      line.armed.length = 0;
    }
    for (const host of this.hosts) {
      if (host.isWrong) setRight(this, host);
      for (const place of host.places) place.touchedUntil = Math.max(place.touchedUntil, now);
    }
  }
}
