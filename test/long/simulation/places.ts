import type { Conditions } from './conditions';
import type { ClientFaultKind, Fault } from './faults';
import type { Network } from './network';
import type { Ledger } from './ledger';
import type { Note, Scheduler } from './scheduler';
import type { SeededRandom } from '../../support/seeded-random';
import type { Directory } from './sim-disk';
import type { Place, SimProcess } from './sim-process';
import type { RegistryServer, SimServer } from './sim-server';
import type { StepLogs } from './step-logs';
import type { Tally } from './tally';

/** A machine: what happens to its clock or its network happens to all servers on it. */
export interface Host {
  readonly index: number;
  /** How far its clock is ahead when it is right. */
  readonly offset: number;
  /** Its clock is off by more than that. */
  isWrong: boolean;
  /** The latest time that it ever showed. */
  ahead: number;
  readonly places: SimPlace[];
}

/** A place and its state. Times are true milliseconds. */
export interface SimPlace extends Place {
  readonly index: number;
  readonly machine: Host;
  process: SimProcess | undefined;
  /** All processes that have run there. */
  readonly processes: SimProcess[];
  /** Until when a fault affects it. */
  touchedUntil: number;
  /** When it issued last. */
  servedAt: number;
  askedAt: number;
  /** A snapshot of an earlier process runs in its place. */
  isRolledBack: boolean;
}

/** The view of a world for the fault injector and the liveness check. */
export interface WorldParts {
  readonly conditions: Conditions;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly network: Network;
  readonly server: RegistryServer;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly hosts: readonly Host[];
  readonly places: readonly SimPlace[];
  readonly clients: { inject(kind: ClientFaultKind, fault: Fault): void };
  readonly note: Note | undefined;
  readonly stepLogs: StepLogs | undefined;
  /** True milliseconds at which history was lost last. */
  readonly lossAt: number | undefined;
  /** Lease IDs whose record a late write has replaced, or has written: ZooKeeper compares only the version of a node. */
  readonly overwritten: ReadonlySet<string>;
  /** Unix milliseconds: newcomers issue above it. */
  readonly floor: number;
  /** The server of a registry of records. */
  readonly records: SimServer;
  /** Whether something kept a server from the registry until newcomers were admitted after the loss of history. */
  wasKept(place: SimPlace): boolean;
  newDirectory(index: number): Directory;
  /** The registry has lost its newest writes. */
  loseHistory(): void;
  /** Starts a server where none runs. */
  start(place: SimPlace): void;
  /** A copy of the memory of the process at `place` as it is now; undefined while it is at work. */
  copyOf(place: SimPlace): SimProcess | undefined;
}
