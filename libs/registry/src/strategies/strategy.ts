import type { Clock, Instance, RandomSource, WorkerStore } from '@leaf-ids/core';
import type { Rule, WorkerFile, WorkerPolicy } from '@leaf-ids/core/internal';
import type { EtcdAccess } from '../stores/etcd/etcd-address';

/** The dependencies of a strategy. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Called for each failure during close. */
  readonly onCloseProblem: (step: string, problem: string) => void;
  /** Called when the tables of a database were made: it has no record of any worker ID. */
  readonly onCreated?: (database: string) => void;
}

/** The components that a strategy provides. */
export interface StrategyParts {
  readonly policy: WorkerPolicy;
  readonly store: WorkerStore;
  /** Replaces the registry while it cannot be reached; optional. */
  readonly file?: WorkerFile;
}

/** The server settings that registries need. What is missing, the rules of the options refuse. */
export interface RegistrySettings {
  /** Name of the service, part of paths. */
  readonly name: string;
  /** Directory for the files of this server. */
  readonly directory: string;
  /** Whether a worker file may replace a registry that cannot be reached. */
  readonly fileFallback: boolean;
  readonly databaseUrl: string;
  readonly migrate: boolean;
  /** Unsafe database settings, which can lose a commit, to accept. */
  readonly accept: readonly string[];
  readonly localWorkers: Readonly<Record<string, number>>;
  readonly zookeeper: { readonly address?: string; readonly auth?: string };
  readonly etcd: Partial<EtcdAccess>;
  readonly kubernetes: { readonly server?: string; readonly directory?: string; readonly preferredWorkerId?: number };
  /** URL of this server for other servers: `http://10.0.0.7:8080`. */
  readonly url: string;
}

/** How often a server reports, and its lease TTL, in milliseconds. */
export interface LeaseTimes {
  readonly reportMs: number;
  readonly leaseTtlMs: number;
}

/** One way to assign worker IDs. To add a strategy, create a file in this directory and list it in `strategies.ts`. */
export interface Strategy<Options> {
  /** One record for each `ip:port`, or a pool. */
  readonly policy: 'fixed' | 'pool';
  /** The defaults of the lease; those of the policy if omitted. */
  readonly lease?: LeaseTimes;
  /** The rule of its options. */
  readonly rule: Rule;
  /** Whether the store never loses a confirmed write: newcomers do not wait in a new registry. False if omitted. */
  remembers?(options: Options): boolean;
  /** Creates the components, which connect when they are first used. */
  create(options: Options, context: StrategyContext): StrategyParts;
  /** The options for a server with these settings. */
  fromSettings(settings: RegistrySettings): Options;
  /** The options for an additional process of the same server; `process` is 1 or more. */
  ofProcess(options: Options, server: Instance, process: number): Options;
}
