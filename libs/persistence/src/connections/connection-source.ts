import type { DataSource, QueryRunner } from 'typeorm';
import { type Clock, LeafError } from '@leaf-ids/core';
import { withinDeadline, codeOf } from '@leaf-ids/core/internal';
import {
  type RawConnection,
  Session,
  type SessionDialect,
  type SessionLimits,
  assertDurable,
  type Weakness,
} from './session';

export interface ConnectionLimits {
  /** Limit for connecting, in milliseconds. */
  readonly connectMs: number;
  /** Limit for a statement, including its wait for a connection, in milliseconds. */
  readonly queryMs: number;
  /** Limit for closing, in milliseconds: a pool waits indefinitely for a statement that gets no response. */
  readonly closeMs: number;
  /** Maximum number of connections; SQLite uses one. */
  readonly connections: number;
}

export const DEFAULT_LIMITS: ConnectionLimits = { connectMs: 2000, queryMs: 2000, closeMs: 2000, connections: 8 };

export interface ConnectionSourceOptions extends SessionLimits {
  readonly dialect: SessionDialect;
  /** Database settings that can cause duplicate IDs, and that the operator accepts. */
  readonly accepted: readonly string[];
  /** Called once for each accepted weakness that the database has. */
  readonly onAccepted: (weakness: Weakness) => void;
}

/** The part of a data source that opens connections. */
export type QueryRunners = Pick<DataSource, 'createQueryRunner'>;

interface ConnectionState {
  /** Monotonic milliseconds. */
  readonly madeAt: number;
  usedAt: number;
}

/** Idle time after which a connection may be dead, in milliseconds. */
const COLD_MS = 1000;

/** The connections of a data source. Each one gets the session settings of Leaf before its first use. */
export class ConnectionSource {
  private readonly states = new WeakMap<RawConnection, ConnectionState>();
  private readonly reported = new Set<string>();
  /** Connections opened earlier are discarded; monotonic milliseconds. */
  private trustedFrom = -Infinity;

  constructor(
    private readonly runners: QueryRunners,
    private readonly description: string,
    private readonly clock: Clock,
    private readonly options: ConnectionSourceOptions,
  ) {}

  /**
   * Opens a connection for one caller, which must {@link close} it. The driver limits the time to connect.
   *
   * @param deadline for the statements that set up the session, in monotonic milliseconds
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` when the database can lose committed data; or the error of the driver
   */
  async open(deadline: number): Promise<Session> {
    for (;;) {
      const runner = this.runners.createQueryRunner();
      const session = new Session(runner, await connection(runner));
      const state = this.states.get(session.connection);
      if (state !== undefined && state.madeAt < this.trustedFrom) {
        session.discard();
        await session.release();
        continue;
      }
      if (state === undefined) await this.begin(session, deadline);
      else session.cold = this.clock.monotonic() - state.usedAt > COLD_MS;
      return session;
    }
  }

  /** @param faulty discards the connection and all that are as old: their server may be gone */
  async close(session: Session, faulty: boolean): Promise<void> {
    const now = this.clock.monotonic();
    if (faulty && !this.options.dialect.isFile) {
      session.discard();
      this.trustedFrom = now;
    }
    const state = this.states.get(session.connection);
    if (state !== undefined) state.usedAt = now;
    await session.release();
  }

  private async begin(session: Session, deadline: number): Promise<void> {
    const { dialect, accepted, onAccepted } = this.options;
    const madeAt = this.clock.monotonic();
    try {
      const beginning = dialect.begin(session.query, this.options, session.connection.processID);
      if (!(await withinDeadline(beginning, deadline, this.clock)))
        throw new NoAnswer(Math.max(0, Math.round(deadline - madeAt)));
      const weaknesses = await beginning;
      assertDurable(this.description, weaknesses, accepted);
      for (const weakness of weaknesses) {
        if (this.reported.has(weakness.setting)) continue;
        this.reported.add(weakness.setting);
        onAccepted(weakness);
      }
    } catch (error) {
      session.discard();
      await session.release();
      throw error;
    }
    this.states.set(session.connection, { madeAt, usedAt: madeAt });
  }
}

/** TypeORM has no type for the connection of the driver. */
async function connection(runner: QueryRunner): Promise<RawConnection> {
  return (await runner.connect()) as RawConnection;
}

/** A statement or the attempt to connect timed out. */
export class NoAnswer extends Error {
  constructor(limitMs: number) {
    super(`no response within ${limitMs} ms; a statement that was already sent counts as executed`);
  }
}

/** Whether the connection is in an unknown state after the error, or leads to the wrong server. */
export function isOfConnection(error: unknown, { faultOf, ofStatement }: SessionDialect): boolean {
  if (error instanceof LeafError) return false;
  const code = codeOf(error);
  return faultOf(error)?.connection ?? (code === undefined || !ofStatement.test(code));
}
