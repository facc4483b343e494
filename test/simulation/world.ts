import { formatInstance, reasonOf, type Instance } from '@leaf/core';
import { drawConditions, START, type Conditions } from './conditions';
import { noFaults, type FaultCounts } from './faults';
import { Ledger, type Breach, type Failure } from './ledger';
import { Network, type Caller } from './network';
import { RecordStore } from './record-store';
import type { SimRegistry } from './registries/sim-registry';
import { correct, type Rules } from './rules';
import { Scheduler, type Note, type StepListener } from './scheduler';
import { SeededRandom } from './seeded-random';
import { SimClock } from './sim-clock';
import { SimProcess, type Surroundings, type Tally } from './sim-process';

export interface SimulationOptions {
  /** The rules in force: all of them, unless one is put out of force to see that it is missed. */
  readonly rules?: Rules;
  /** Breaches of other kinds do not end it. */
  readonly until?: Breach;
  readonly onStep?: StepListener;
  readonly onNote?: (text: string) => void;
}

export interface SimulationResult {
  readonly seed: number;
  readonly conditions: Conditions;
  readonly steps: number;
  readonly tally: Tally;
  readonly faults: FaultCounts;
  readonly failure: (Failure & { readonly step: number }) | undefined;
}

const HOUR = 3_600_000;

/** Where one process runs, and those that take its place. */
interface Host {
  readonly name: string;
  /** The machine; what happens to its clock happens to all processes on it. */
  readonly machine: number;
  readonly instance: Instance;
  readonly clock: SimClock;
  process: SimProcess | undefined;
}

/** Plays one seed: the same one always goes the same way. */
export function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  return new World(seed, options).run();
}

/** Hosts with clocks of their own and one or several processes, a registry, the network between them, and everything that can go wrong. */
class World {
  private readonly random: SeededRandom;
  private readonly conditions: Conditions;
  private readonly faults = noFaults();
  private readonly tally: Tally = { ids: 0, floodIds: 0, acquired: 0, released: 0, lost: 0 };
  private readonly scheduler: Scheduler;
  private readonly ledger: Ledger;
  private readonly store: RecordStore;
  private readonly network: Network;
  private readonly rules: Rules;
  private readonly hosts: Host[] = [];
  private readonly note: Note | undefined;
  private started = 0;

  constructor(
    private readonly seed: number,
    options: SimulationOptions,
  ) {
    this.random = new SeededRandom(seed);
    this.rules = options.rules ?? correct;
    const drawn = drawConditions(this.random);
    this.conditions = this.rules.protocol === undefined ? drawn : { ...drawn, protocol: this.rules.protocol };
    this.ledger = new Ledger(this.conditions.layout, options.until);
    const onError = (error: unknown): void => this.ledger.breach('error', reasonOf(error));
    this.scheduler = new Scheduler(this.random, onError, options.onStep);
    this.store = new RecordStore(this.ledger);
    const { onNote } = options;
    this.note = onNote && ((text) => onNote(text()));
    this.network = new Network(this.scheduler, this.random, this.conditions, this.faults, this.note);
  }

  async run(): Promise<SimulationResult> {
    const { scheduler, conditions, ledger, seed, tally, faults } = this;
    if (conditions.protocol === 'zk_recycle') {
      for (let i = 0; i < conditions.poolSize; i++) this.store.create('');
    }
    for (let i = 0; i < conditions.hosts; i++) this.addMachine(i);
    this.schedule(conditions.faultEveryMs, 'fault', () => this.fault());
    await scheduler.run(() => ledger.failure !== undefined || scheduler.steps >= conditions.steps);
    const { steps } = scheduler;
    return { seed, conditions, steps, tally, faults, failure: ledger.failure && { ...ledger.failure, step: steps } };
  }

  /** Machines 0 and 1 share an `ip:port`, and so do 2 and 3: each of their processes has a twin. */
  private addMachine(machine: number): void {
    const { random, conditions } = this;
    const exact = conditions.grainMs > 0 || random.chance(0.3);
    const offset = exact ? 0 : random.spread(1, 2 * conditions.horizonMs) * this.sign();
    for (let process = 0; process < conditions.processes; process++) {
      const suffix = process === 0 ? '' : `#${process}`;
      const host: Host = {
        name: `h${machine}${process === 0 ? '' : `p${process}`}`,
        machine,
        instance: { ip: `10.0.0.7${suffix}`, port: 8080 + (machine >> 1) },
        clock: new SimClock(this.scheduler, START + offset),
        process: undefined,
      };
      this.hosts.push(host);
      this.schedule(random.chance(0.5) ? 0 : conditions.reportMs, `start ${host.name}`, () => this.start(host));
    }
  }

  private onMachineOf({ machine }: Host): Host[] {
    return this.hosts.filter((host) => host.machine === machine);
  }

  private start(host: Host): void {
    const { random, conditions, rules } = this;
    const name = `${host.name}#${++this.started}`;
    const own = formatInstance(host.instance);
    const twin = this.hosts.find(({ process, instance }) => process?.alive && formatInstance(instance) === own);
    if (twin !== undefined) this.faults['two of one identity']++;
    const beside = this.onMachineOf(host).filter(({ process }) => process?.alive);
    if (beside.length > 0 && host.process !== undefined) this.faults['replaced beside others']++;
    const onEnd = (): void => {
      const delay = random.spread(0.01, 2) * conditions.horizonMs;
      this.schedule(delay, `start ${host.name}`, () => this.start(host));
    };
    const connect = (process: Caller): SimRegistry =>
      rules.registry(conditions.protocol, rules.client(this.store, this.network, process), random);
    host.process = new SimProcess(name, { ...host, connect, onEnd }, this.surroundings());
  }

  private surroundings(): Surroundings {
    const { scheduler, random, conditions, ledger, tally, rules, note } = this;
    return { scheduler, random, conditions, ledger, tally, note, windowOf: rules.window };
  }

  private fault(): void {
    const { random, conditions, faults } = this;
    this.schedule(conditions.faultEveryMs * random.spread(0.2, 2), 'fault', () => this.fault());
    const host = random.pick(this.hosts as [Host, ...Host[]]);
    switch (random.below(9)) {
      case 0:
        if (host.process?.alive) faults.crash++;
        host.process?.crash();
        break;
      case 1:
        host.process?.stop();
        break;
      case 2:
        this.pause(host);
        break;
      case 3:
        this.pauseInside(host);
        break;
      case 4:
      case 5:
        this.stepClock(host);
        break;
      case 6:
        faults['clock drift']++;
        this.drift(host);
        break;
      case 7:
        this.registryDown();
        break;
      case 8:
        faults['host cut off']++;
        this.cutOff(host);
        break;
    }
  }

  private pause({ process, clock }: Host): void {
    if (!process?.alive) return;
    this.faults.pause++;
    clock.freeze({ ms: this.anyLength(), suspended: this.suspended(), step: 0 });
  }

  private pauseInside({ process, clock }: Host): void {
    const { random } = this;
    if (!process?.alive) return;
    this.faults['pause inside a call']++;
    const step = random.chance(0.3) ? this.stepLength() : 0;
    const freeze = { ms: this.anyLength(), suspended: this.suspended(), step };
    clock.freezeAtRead(1 + random.below(random.pick([3, 100, 6000])), freeze, random.chance(0.5));
  }

  private suspended(): boolean {
    const suspended = this.random.chance(0.5);
    if (suspended) this.faults['machine suspended']++;
    return suspended;
  }

  private stepClock(host: Host): void {
    const step = this.stepLength();
    this.faults[step > 0 ? 'clock step forward' : 'clock step back']++;
    for (const { clock } of this.onMachineOf(host)) clock.step(step);
  }

  private drift(host: Host): void {
    const { random } = this;
    const rate = random.chance(0.5) ? 1 + this.sign() * 0.0005 : random.spread(0.3, 3);
    for (const { clock } of this.onMachineOf(host)) clock.drift(rate);
  }

  private cutOff(host: Host): void {
    const until = this.due(this.anyLength());
    for (const { clock } of this.onMachineOf(host)) this.network.cutOff(clock, until);
  }

  /** Small ones are absorbed, middling ones fall inside what was reserved, large ones outside. */
  private stepLength(): number {
    const { random } = this;
    const length = random.chance(0.3) ? random.spread(1, 20) : this.onGrain(this.anyLength());
    return this.sign() * Math.min(length, 24 * HOUR) * (random.chance(0.1) ? 4 : 1);
  }

  private registryDown(): void {
    const { random, network, faults } = this;
    const ms = random.chance(0.03) ? random.spread(1, 6) * HOUR : this.anyLength();
    faults[ms >= HOUR ? 'registry down for hours' : 'registry down']++;
    network.downUntil = Math.max(network.downUntil, this.due(ms));
  }

  /** Around the reserved time: much shorter, or several times as long. */
  private anyLength(): number {
    return this.random.spread(0.01, 4) * this.conditions.horizonMs;
  }

  private sign(): number {
    return this.random.chance(0.5) ? 1 : -1;
  }

  private schedule(ms: number, label: string, action: () => void): void {
    this.scheduler.at(this.due(ms), label, action);
  }

  private due(ms: number): number {
    const { grainMs } = this.conditions;
    const due = this.scheduler.now + ms;
    return grainMs > 0 ? Math.ceil(due / grainMs) * grainMs : due;
  }

  private onGrain(ms: number): number {
    const { grainMs } = this.conditions;
    return grainMs > 0 ? Math.ceil(ms / grainMs) * grainMs : ms;
  }
}
