import cluster from 'node:cluster';
import type { ChildProcess } from 'node:child_process';
import { Logger } from '@nestjs/common';
import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { makeToken } from '../config/tokens';
import type { LeafConfig } from '../config/leaf-config';
import { reportStartFault } from '../lifecycle/start-fault';
import type { Fork } from './child';
import { type ProcessCommand, PROCESS_FLAG, type Report } from './messages';
import { Supervisor } from './supervisor';

/** The message with which node:cluster passes an accepted connection to a process. */
interface NewConnection {
  readonly act?: string;
  /** Key of the port. */
  readonly key?: string;
}

interface Handle {
  /** Has no effect on a handle that is closed. */
  close(): void;
}

/**
 * Closes the connection that was passed to a process which ended before it accepted it. Node.js keeps it open and never
 * reads it: the client would wait without a limit. A process has at most one such connection for each port.
 */
export class PassedConnections {
  private readonly receivers = new WeakMap<Handle, ChildProcess>();

  watch(child: ChildProcess): void {
    /** The newest handle of each port. */
    const newest = new Map<string, Handle>();
    const send = child.send.bind(child) as (...parameters: unknown[]) => boolean;
    child.send = (...parameters: unknown[]): boolean => {
      const [{ act, key = '' }, handle] = parameters as [NewConnection, Handle?];
      if (act === 'newconn' && handle !== undefined) {
        newest.set(key, handle);
        this.receivers.set(handle, child);
      }
      return send(...parameters);
    };
    child.once('exit', () => {
      // Another process has a connection that this one has refused.
      for (const handle of newest.values()) if (this.receivers.get(handle) === child) handle.close();
    });
  }
}

/** Time beyond the drain and the longest request for returning IDs and closing connections, in milliseconds. */
const STOP_MARGIN_MS = 30_000;
/** This many signals end everything at once. */
const LAST_SIGNAL = 3;

/** Starts the processes of a server, keeps them running until it is told to stop, and ends this process then. */
export async function supervise(given: LeafConfig): Promise<void> {
  const { processes, drainMs, http, adminTokens = [makeToken()] } = given;
  const fork = forkWith({ ...given, adminTokens });
  const options = { processes, stopLimitMs: drainMs + http.waitMs + STOP_MARGIN_MS };
  const supervisor = new Supervisor(options, fork, new SystemClock(), systemRandom, new Logger('Processes'));
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    signals++;
    if (signals >= LAST_SIGNAL) {
      supervisor.kill();
      process.exit(1);
    }
    void supervisor.stop({ drain: signal !== 'SIGINT' });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  const { code, fault } = await supervisor.run();
  if (fault !== undefined) reportStartFault(fault, given.log);
  process.exit(code);
}

function forkWith(config: LeafConfig): Fork {
  // Connections are dealt out in turn: none to a process that hangs, and the port ends with this process.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const passed = new PassedConnections();
  return (number, { onReport, onExit }) => {
    // The number is for whoever lists the processes of the machine.
    cluster.setupPrimary({ args: [`${PROCESS_FLAG}=${number}`], serialization: 'advanced' });
    const worker = cluster.fork();
    passed.watch(worker.process);
    const send = (command: ProcessCommand): void => {
      if (worker.isConnected()) worker.send(command);
    };
    worker.on('message', (report: Report) => {
      onReport(report);
    });
    worker.once('exit', (code: number | null, signal: string | null) => {
      onExit({ code, signal });
    });
    // Of a command to a process that has just ended; its end is told by the event above.
    worker.on('error', () => undefined);
    send({ kind: 'start', config, process: number });
    return { pid: worker.process.pid ?? 0, send, kill: () => worker.process.kill('SIGKILL') };
  };
}
