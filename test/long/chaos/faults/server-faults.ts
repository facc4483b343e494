import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../support/until';
import { FIXED_TTL_MS } from '../world/world';
import type { LeafProcess } from '../world/leaf-process';
import {
  type Call,
  type Code,
  type Draw,
  duration,
  type Fault,
  NO_ANSWER,
  NO_WORKER,
  type Plan,
  serverOf,
  type ServerName,
  SERVERS,
  SHARING,
} from './fault';
import type { Mode } from '../history/history';

/** A fault of one server. A client of several servers notices it only while all of them are struck. */
export class ServerFault implements Fault {
  constructor(
    private readonly server: LeafProcess,
    private readonly codes: Readonly<Record<Mode, readonly Code[]>>,
    readonly begin: () => Promise<void>,
    readonly end: () => Promise<void>,
  ) {}

  expected({ server, mode }: Call, others: readonly Plan[]): readonly Code[] {
    if (server !== undefined) return server === this.server ? this.codes[mode] : [];
    return mode === 'snowflake' && this.areAllStruck(others)
      ? [...this.codes.snowflake, 'LEAF_SERVERS_UNAVAILABLE']
      : [];
  }

  private areAllStruck(others: readonly Plan[]): boolean {
    const struck = [...this.own(this.server.name), ...others.flatMap(({ parts }) => parts)];
    return SHARING.every((name) => this.own(name).some((part) => struck.includes(part)));
  }

  /** What a server needs to give snowflake IDs at any moment. */
  private own(name: string): string[] {
    return ['server', 'clock', 'client'].map((part) => `${part} ${name}`);
  }
}

/** Of a start that waits for its database, too. */
export const START_LIMIT_MS = 120_000;
/** Processes do not start faster on a busy machine; until then nobody listens. */
const RESTARTED = { segment: NO_ANSWER, snowflake: [...NO_ANSWER, ...NO_WORKER] };

const kill: Draw = (random) => {
  const name = random.pick(SERVERS);
  return {
    kind: 'server-kill',
    parts: [`server ${name}`],
    holdMs: duration(random, 3500, 5000),
    outlastsBuffers: false,
    detail: name,
    arm: (world) => {
      const server = serverOf(world, name);
      return new ServerFault(
        server,
        RESTARTED,
        () => server.kill(),
        () => server.start(),
      );
    },
  };
};

function suspension(kind: string, least: number, most: number): Draw {
  return (random): Plan => {
    const name = random.pick(SERVERS);
    return {
      kind,
      parts: [`server ${name}`],
      holdMs: duration(random, least, most),
      outlastsBuffers: false,
      detail: name,
      arm: (world) => {
        const server = serverOf(world, name);
        const codes = { segment: NO_ANSWER, snowflake: [...NO_ANSWER, 'LEAF_LEASE_EXPIRED'] };
        const signal = (how: 'suspend' | 'resume') => (): Promise<void> => {
          server[how]();
          return Promise.resolve();
        };
        return new ServerFault(server, codes, signal('suspend'), signal('resume'));
      },
    };
  };
}

/**
 * It starts before its own past. A little before, it waits until the clock has passed that; further, it acquires no worker
 * ID until the clock is right.
 */
const killAndSetBack: Draw = (random) => {
  const name = random.pick(SERVERS);
  const stepMs = random.chance(0.5) ? duration(random, 2000, 5000) : duration(random, 15_000, 30_000);
  return {
    kind: 'server-kill-clock-back',
    parts: [`server ${name}`, `clock ${name}`],
    holdMs: duration(random, 3000, 4500),
    outlastsBuffers: false,
    detail: `${name} by ${stepMs} ms`,
    arm: (world) => {
      const server = serverOf(world, name);
      const { segment, snowflake } = RESTARTED;
      return new ServerFault(
        server,
        { segment, snowflake: [...snowflake, 'LEAF_CLOCK_BACKWARDS', 'LEAF_CLOCK_BEHIND'] },
        async () => {
          await server.kill();
          await server.clock.set(-stepMs);
          await server.start();
          await until(`the start of server ${name}`, () => server.hasStarted(), START_LIMIT_MS);
        },
        () => server.clock.set(0),
      );
    },
  };
};

/** Servers with a worker file. */
const WITH_FILE: readonly [ServerName, ...ServerName[]] = ['a', 'b', 'd'];
/** From the copy to the kill: it has reserved time since. */
const SINCE_COPY_MS = 3000;

/** It starts with the data directory of an earlier day, as from a backup or a snapshot of its volume. */
const killAndPutBack: Draw = (random) => {
  const name = random.pick(WITH_FILE);
  return {
    kind: 'server-kill-old-data',
    // Without its registry, an old file would stand in until the registry shows that it is old: the lease is lost then.
    parts: [`server ${name}`, `disk ${name}`, `zookeeper ${name}`, `database ${name}`, 'zookeeper', 'database'],
    holdMs: duration(random, 3500, 5000),
    outlastsBuffers: false,
    detail: name,
    arm: (world) => {
      const server = serverOf(world, name);
      return new ServerFault(
        server,
        RESTARTED,
        async () => {
          await server.data.copyOnce();
          await sleep(SINCE_COPY_MS);
          await server.kill();
          await server.data.putBack();
        },
        () => server.start(),
      );
    },
  };
};

export const SERVER_FAULTS: readonly Draw[] = [
  kill,
  suspension('server-suspend', 1000, 3000),
  suspension('server-suspend-past-lease', FIXED_TTL_MS + 1000, FIXED_TTL_MS + 2000),
  killAndSetBack,
  killAndPutBack,
];
