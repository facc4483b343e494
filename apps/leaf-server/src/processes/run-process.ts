import cluster, { type Worker } from 'node:cluster';
import { Logger } from '@nestjs/common';
import { type Clock, LeafError, SystemClock } from '@leaf-ids/core';
import { processInstance } from '@leaf-ids/core/internal';
import type { SegmentModuleOptions } from '@leaf-ids/id';
import { strategyOf } from '@leaf-ids/registry';
import type { LeafConfig } from '../config/leaf-config';
import { LeafLogger } from '../config/logging';
import type { Readiness } from '../lifecycle/readiness';
import { startFault } from '../lifecycle/start-fault';
import { ShutdownController } from '../lifecycle/shutdown-controller';
import { type Channel, ChannelBus } from './channel-bus';
import type { SharedState } from './shared-state';
import type { ProcessBus } from './process-bus';
import type { ProcessCommand, Report } from './messages';

/** The channel between a process of a server and its supervisor. */
class ClusterChannel implements Channel {
  private readonly worker: Worker;

  /** @throws Error when this process was started by somebody else */
  constructor() {
    if (cluster.worker === undefined) throw new Error('--process is for processes that the server starts by itself.');
    this.worker = cluster.worker;
  }

  send(report: Report): void {
    if (this.worker.isConnected()) this.worker.send(report);
  }

  /** Resolves when it is on its way. */
  async sendLast(report: Report): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.worker.isConnected()) this.worker.send(report, () => resolve());
      else resolve();
    });
  }

  onCommand(act: (command: ProcessCommand) => void): void {
    this.worker.on('message', act);
  }

  /** Called when the supervisor is gone; this process then stops gracefully. */
  onOrphaned(act: () => void): void {
    this.worker.once('disconnect', () => {
      // Node would end the process at once.
      this.worker.exitedAfterDisconnect = true;
      act();
    });
  }
}

/** Interval of the readiness check of a process that waits to listen, in milliseconds. */
const LOOK_MS = 20;

/** Time limit of a graceful end when the supervisor is gone, in milliseconds. */
const ORPHAN_LIMIT_MS = 30_000;

/** Starts the server of this process. */
type StartServer = (
  config: LeafConfig,
  options: {
    readonly bus: ProcessBus;
    /** Aborts the start. */
    readonly signal: AbortSignal;
    /** Called when the start is complete except for listening. */
    readonly beforeListening: (parts: { readonly readiness: Readiness; readonly state: SharedState }) => Promise<void>;
  },
) => Promise<{ readonly place: string; close(options: { readonly drain: boolean }): Promise<void> }>;

/** Is one of the processes of a server, which another one supervises. */
export function runProcess(startServer: StartServer): void {
  const channel = new ClusterChannel();
  channel.onCommand((command) => {
    if (command.kind === 'start') void begin(startServer, command.config, command.process, channel);
  });
}

/** Listens to commands at once: a stop may follow the start on its heels. */
async function begin(
  startServer: StartServer,
  config: LeafConfig,
  number: number,
  channel: ClusterChannel,
): Promise<void> {
  Logger.overrideLogger(new LeafLogger(config.log, number));
  const clock = new SystemClock();
  const bus = new ChannelBus(number, config.processes, channel, clock);
  const gate = new ListenGate(clock);
  const stop = new ShutdownController(clock);
  const starting = startServer(configOfProcess(config, number), {
    bus,
    signal: stop.signal,
    beforeListening: async ({ readiness, state }) => {
      channel.send({ kind: 'prepared' });
      await state.adopt();
      await gate.opens(readiness);
    },
  });
  const end = (drain: boolean): void => {
    stop.now(drain);
    gate.close();
  };
  // Ctrl-C and the end of a terminal reach all of its processes; the supervisor decides what they mean.
  stop.onSignals({ direct: false });
  channel.onCommand((command) => {
    if (command.kind === 'listen') gate.open(command.whenReady);
    if (command.kind === 'stop') end(command.drain);
    if (command.kind === 'ping') channel.send({ kind: 'pong' });
  });
  let started = false;
  channel.onOrphaned(() => {
    // What it has not begun to give out need not be given back.
    if (!started) process.exit(1);
    end(false);
    void clock.sleep(ORPHAN_LIMIT_MS).then(() => process.exit(1));
  });
  try {
    const { place } = await stop.watch(starting);
    started = true;
    channel.send({ kind: 'listening', place });
  } catch (error) {
    await channel.sendLast({ kind: 'failed', reason: startFault(error) });
    process.exit(1);
  }
}

/** A process that is prepared waits for it, to listen together with the others. */
class ListenGate {
  private now = false;
  private whenReady = false;
  private stopped = false;

  constructor(private readonly clock: Clock) {}

  open(whenReady: boolean): void {
    if (whenReady) this.whenReady = true;
    else this.now = true;
  }

  close(): void {
    this.stopped = true;
  }

  /** @throws LeafError when the server is stopped before */
  async opens(readiness: Readiness): Promise<void> {
    while (!this.now && !(this.whenReady && readiness.ready)) {
      if (this.stopped) throw new LeafError('LEAF_NOT_READY', 'The server was stopped before it listened.');
      await this.clock.sleep(LOOK_MS);
    }
  }
}

/**
 * The settings of one process of a server. Each is a holder of a worker ID of its own: the registry knows the first one
 * as the server, `10.0.0.7:8080`, and the others by a name that no server can have, `10.0.0.7#1:8080`. What a process
 * keeps in the data directory has a place of its own.
 *
 * @param process from 0
 */
export function configOfProcess(config: LeafConfig, process: number): LeafConfig {
  const { segment, snowflake } = config.ids;
  const { processes, http } = config;
  const instance = process === 0 ? config.instance : processInstance(config.instance, process);
  const share = (limit: number): number => Math.ceil(limit / processes);
  return {
    ...config,
    process,
    instance,
    // One of them says it.
    warnings: process === 0 ? config.warnings : [],
    files: process === 0 ? config.files : [],
    http: { ...http, maxConnections: share(http.maxConnections), maxInFlight: share(http.maxInFlight) },
    ids: {
      ...(segment === undefined ? {} : { segment: { ...segment, ...filesOf(segment, process) } }),
      ...(snowflake === undefined
        ? {}
        : {
            snowflake: {
              ...{ ...snowflake, instance },
              ...(process > 0 && { registry: strategyOf(snowflake.registry).ofProcess(config.instance, process) }),
            },
          }),
    },
  };
}

type SegmentFiles = Pick<SegmentModuleOptions, 'hotTagsFile' | 'tagEndsFile'>;

function filesOf({ hotTagsFile, tagEndsFile }: SegmentFiles, process: number): SegmentFiles {
  const own = (file: string): string => (process === 0 ? file : file.replace(/\.json$/, `-${process}.json`));
  return {
    ...(hotTagsFile !== undefined && { hotTagsFile: own(hotTagsFile) }),
    ...(tagEndsFile !== undefined && { tagEndsFile: own(tagEndsFile) }),
  };
}
