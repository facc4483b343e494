import {
  formatInstance,
  type LeafError,
  type RegistryDocument,
  type StoredWorker,
  type WorkerStore,
} from '@leaf-ids/core';
import { reasonOf, windowOf } from '@leaf-ids/core/internal';
import { Clients } from './clients/clients';
import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { type Conditions, LAYOUTS, sinceStart, START } from './conditions';
import { drawWorld } from './draw';
import type { ExcuseCounts } from './excuses';
import { type Fault, type FaultCounts, noFaults } from './faults';
import { inject, setRight } from './injector';
import type { Fork, Issuer, Loss } from './issuer';
import { addJava } from './java';
import type { Host, SimPlace, WorldParts } from './places';
import { type Breach, type Failure, Ledger } from './ledger';
import { Liveness } from './liveness';
import { Line, Network } from './network';
import { type Note, Scheduler, type StepListener } from './scheduler';
import { SeededRandom } from '../../support/seeded-random';
import { SimClock } from './sim-clock';
import { notInPlace } from './sim-disk';
import { type Place, SimProcess, type Surroundings } from './sim-process';
import { type RegistryServer, SimServer, type WriteListener, type Writer } from './sim-server';
import { type Carry, SimStore } from './sim-store';
import { SimZookeeper } from './sim-zookeeper';
import { StepLogs, type StepWriter } from './step-logs';
import { noTally, type Tally } from './tally';

export interface SimulationOptions {
  /** The faults that happen; left out: all that the seed draws. */
  readonly faults?: readonly Fault[];
  /** Breaches of other kinds do not end it. */
  readonly until?: readonly Breach[];
  readonly onStep?: StepListener;
  readonly onNote?: (text: string) => void;
  /** Receives what each process does with worker IDs. */
  readonly onProcessStep?: StepWriter;
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

/** Ten times what a long world takes, for its servers and for each client. */
const MAX_STEPS = { servers: 200_000, client: 100_000 };

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
  readonly server: RegistryServer;
  /** The server of a registry of records. */
  readonly records = new SimServer(this, 0);
  readonly note: Note | undefined;
  readonly hosts: Host[] = [];
  readonly places: SimPlace[] = [];
  /** True milliseconds at which history was lost last. */
  lossAt: number | undefined;
  readonly overwritten = new Set<string>();
  private loss: Loss | undefined;
  private readonly copies: { readonly pair: readonly [SimProcess, SimProcess]; readonly fork: Fork }[] = [];
  private readonly zookeeper: SimZookeeper | undefined;
  readonly clients: Clients;
  private readonly schedule: readonly Fault[];
  private readonly counts = noFaults();
  private readonly liveness: Liveness;
  readonly stepLogs: StepLogs | undefined;
  private started = 0;
  private directories = 0;
  /** Unix milliseconds: newcomers issue above it. */
  floor = 0;
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
    const { onNote, onProcessStep } = options;
    this.stepLogs = onProcessStep && new StepLogs(this.scheduler, onProcessStep);
    this.note = onNote && ((text) => onNote(text()));
    this.network = new Network(this.scheduler, conditions.timeoutMs, conditions.latencyMs, this.note);
    const layout = conditions.strategy === 'pool' ? PLAIN : SEQUENTIAL;
    if (conditions.registry === 'zookeeper') this.zookeeper = new SimZookeeper(this, layout);
    this.server = this.zookeeper ?? this.records;
    this.liveness = new Liveness(this);
    for (let host = 0; host < conditions.hosts; host++) this.addHost(host);
    this.clients = new Clients(this);
    if (this.zookeeper !== undefined) addJava(this, this.zookeeper);
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
    const mostSteps = MAX_STEPS.servers + MAX_STEPS.client * conditions.clients;
    const end = conditions.faultyMs + conditions.boundMs + 8 * conditions.reportMs + conditions.askMs;
    await scheduler.run(() => {
      if (scheduler.steps > mostSteps) ledger.breach('error', `It is not over after ${scheduler.steps} steps`);
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
      const carry: Carry = (label, operation, isWrite) => {
        process.pending++;
        return this.network.call(process, label, operation, isWrite).finally(() => process.pending--);
      };
      if (this.zookeeper !== undefined) return this.zookeeper.storeOf(process, process.place.clock, carry, sources);
      return new SimStore('the registry', this.records, process, carry, sources, this.conditions.readsByInstance);
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
    if (place.process?.alive || place.isRolledBack || this.ledger.failure !== undefined) return;
    place.process = new SimProcess(`${place.name}#${++this.started}`, this.random.bits(), place, this);
    place.processes.push(place.process);
  }

  copyOf(place: SimPlace): SimProcess | undefined {
    const { process } = place;
    if (process?.alive !== true || !process.isIdle) return undefined;
    const { name, instance, layout, settings, disk, machine } = place;
    const fork = { at: this.scheduler.now };
    const copy: Place = {
      ...{ name: `${name}copy`, host: -100 - ++this.started, instance, layout, settings, line: new Line() },
      ...{ clock: new SimClock(this.scheduler, START + machine.offset), tampered: true },
      disk: { directory: { ...disk.directory, lockedBy: undefined } },
    };
    place.tampered = true;
    process.expose({ fork });
    const copied = new SimProcess(`${copy.name}#${this.started}`, this.random.bits(), copy, this, { process, fork });
    this.copies.push({ pair: [process, copied], fork });
    return copied;
  }

  loseHistory(): void {
    this.lossAt = this.scheduler.now;
    for (const place of this.places) place.touchedUntil = Math.max(place.touchedUntil, this.lossAt);
    for (const { pair, fork } of this.copies) {
      // One of them may have written since the copy. Without that write, the other one registers the worker again.
      const isOpen = pair.every(({ alive }) => alive) && pair.some(({ issuer }) => issuer?.exposure.fork === fork);
      if (isOpen) for (const each of pair) each.expose({ fork });
    }
  }

  missedLoss(process: SimProcess): Loss | undefined {
    const { lossAt, loss } = this;
    const place = this.places.find((each) => each.process === process);
    if (lossAt === undefined || loss === undefined || loss.admittedAt < lossAt || place === undefined) return undefined;
    return this.wasKept(place) && place.processes.every((each) => !this.wroteSince(each, lossAt)) ? loss : undefined;
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

  wrote(writer: Writer, before: StoredWorker | undefined, after: StoredWorker, isLate: boolean): void {
    const { scheduler, ledger, leaseWrites, lossAt, overwritten } = this;
    const { leaseId = '', write, free } = after.record;
    if (isLate && before !== undefined) {
      this.tally.overwritten++;
      overwritten.add(leaseId).add(before.record.leaseId ?? '');
    }
    const isOwn = writer.leaseId === leaseId;
    if (windowOf(after.record) !== undefined) this.clients.wrote(writer.name, before, after);
    else if (isOwn) ledger.wrote(writer.name, before, after, isLate);
    else if (free && before?.record.write === write && !before.record.free) {
      const age = scheduler.now - (this.workerWrites.get(after.workerId) ?? 0);
      const what = `${writer.name} frees worker ${after.workerId}, which ${leaseId} wrote ${Math.round(age)} ms ago`;
      if (age < this.leaseTtlInUse() * 0.9) ledger.breach('reclaim', what);
    }
    if (lossAt !== undefined && (leaseWrites.get(writer.name) ?? Infinity) < lossAt && isOwn) this.tally.reregistered++;
    if (isOwn) leaseWrites.set(writer.name, scheduler.now);
    this.workerWrites.set(after.workerId, scheduler.now);
  }

  /** R12: the longest lease TTL of the servers that have held a worker. One that is refused records none. */
  private leaseTtlInUse(): number {
    const { places, leaseWrites, conditions } = this;
    const joined = places.filter(({ processes }) => processes.some(({ name }) => leaseWrites.has(name)));
    const least = Math.min(...conditions.settings.map(({ leaseTtlMs }) => leaseTtlMs));
    return Math.max(least, ...joined.map(({ settings }) => settings.leaseTtlMs));
  }

  /** Notes, when a floor is written, which holders have not registered again, and whose clocks are apart. */
  floorWritten({ floor = 0 }: RegistryDocument): void {
    const { conditions, lossAt, scheduler } = this;
    if (conditions.strategy === 'local') return;
    this.note?.(() => `newcomers issue above ${sinceStart(floor)}`);
    this.floor = floor;
    const loss: Loss = { admittedAt: scheduler.now };
    this.loss = loss;
    this.noteClocks(floor);
    this.clients.floorWritten(loss);
    if (lossAt === undefined) return;
    for (const place of this.places) {
      if (!this.wasKept(place)) continue;
      for (const process of place.processes) {
        if (process.alive && !this.wroteSince(process, lossAt)) process.expose({ missed: loss });
      }
    }
  }

  /** Which holders have issued, or may issue, above the floor, because their clocks are apart from that of its writer. */
  private noteClocks(floor: number): void {
    const { ledger, conditions, places, scheduler } = this;
    const farthest = floor + conditions.maxClockOffsetMs;
    const reach = new Map<Issuer, number>();
    for (const issuer of ledger.issuers) {
      if (issuer.kind === 'server' && issuer.newest > farthest) reach.set(issuer, issuer.newest);
    }
    for (const { process, clock } of places) {
      clock.refresh();
      const { issuer, snapshot } = process ?? {};
      const isApart = Math.abs(clock.shown - floor) > conditions.maxClockOffsetMs;
      if (process?.alive === true && issuer !== undefined && isApart)
        reach.set(issuer, Math.max(issuer.newest, snapshot?.ceiling ?? 0));
    }
    if (reach.size > 0) ledger.apartFloors.push({ at: scheduler.now, reach });
  }

  wasKept({ line, touchedUntil, settings }: SimPlace): boolean {
    const { lossAt = Infinity, loss, conditions } = this;
    // A holder that has been able to report once has registered again.
    const lastChance = (loss?.admittedAt ?? 0) - settings.reportMs - 2 * conditions.timeoutMs;
    return Math.max(line.failedAt, line.cutUntil, touchedUntil) > Math.max(lossAt, lastChance);
  }

  private wroteSince({ name }: SimProcess, lossAt: number): boolean {
    return (this.leaseWrites.get(name) ?? 0) >= lossAt;
  }

  newDirectory(index: number): SimPlace['disk']['directory'] {
    // A directory that decides alone gives its place the worker that the one before has given it.
    const lineage = this.conditions.strategy === 'local' ? `place ${index}` : `directory ${++this.directories}`;
    return { lineage: [lineage], record: undefined, lockedBy: undefined, server: new SimServer(this, index) };
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
        settings: conditions.settings[index] ?? conditions,
        clock: new SimClock(this.scheduler, START + host.offset),
        line: new Line(),
        disk: { directory: this.newDirectory(number) },
        ...{
          tampered: false,
          process: undefined,
          processes: [],
          touchedUntil: 0,
          servedAt: 0,
          askedAt: 0,
          isRolledBack: false,
        },
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
