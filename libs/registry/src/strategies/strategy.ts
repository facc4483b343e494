import type { Clock, Instance, RandomSource, WorkerFile, WorkerPolicy, WorkerStore } from '@leaf-ids/core';

/** What a strategy is built from besides its own options. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Called for each fault while closing. */
  readonly onCloseProblem: (step: string, problem: string) => void;
  /** Called when the tables of a database were made: it has no record of any worker ID. */
  readonly onCreated?: (database: string) => void;
}

/** A policy over a store. */
export interface StrategyParts {
  readonly policy: WorkerPolicy;
  readonly store: WorkerStore;
  /** Replaces the registry while that cannot be reached; left out: nothing does. */
  readonly file?: WorkerFile;
  /** The store loses no confirmed write: newcomers do not wait in a new registry. */
  readonly remembers: boolean;
}

/** The settings of a server that registries need. */
export interface RegistrySettings {
  /** Of the service: part of paths. */
  readonly name: string;
  /** Directory for the files of this server. */
  readonly directory: string;
  /** Whether a worker file may replace a registry that cannot be reached. */
  readonly fileFallback: boolean;
  readonly databaseUrl: string;
  readonly migrate: boolean;
  /** Settings of the database that can lose a commit, and are accepted all the same. */
  readonly accept: readonly string[];
  readonly localWorkers: Readonly<Record<string, number>>;
  readonly zookeeper: { readonly address: string; readonly auth?: string };
  /** Where other servers reach this one: `http://10.0.0.7:8080`. */
  readonly url: string;
}

/**
 * One way to get worker IDs, with everything specific to it. To add one, write a file with a strategy beside this one
 * and list it in `strategies.ts`.
 */
export interface Strategy<Options> {
  /** One record for each `ip:port`, or a pool. Decides how far ahead time is reserved by default. */
  readonly policy: 'fixed' | 'pool';
  /** Connects to nothing before it is used. */
  create(options: Options, context: StrategyContext): StrategyParts;
  /** The options of a server with these settings. */
  fromSettings(settings: RegistrySettings): Options;
  /** The options of another process of the same server; `process` is 1 or more. */
  ofProcess(options: Options, server: Instance, process: number): Options;
}
