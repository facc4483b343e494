import type { DataSource, QueryRunner } from 'typeorm';
import { type Clock, withinDeadline } from '@leaf-ids/core';
import { NoAnswer } from './no-answer';
import { type RawConnection, Session } from './session';
import type { SessionDialect, SessionLimits } from './session-dialect';
import { assertDurable, type Weakness } from './weakness';

export interface ConnectionSourceOptions extends SessionLimits {
  readonly dialect: SessionDialect;
  /** Settings of the database under which IDs can come twice, and which are accepted all the same. */
  readonly accepted: readonly string[];
  /** Told of each of them that the database has, once. */
  readonly onAccepted: (weakness: Weakness) => void;
}

interface ConnectionState {
  /** Monotonic milliseconds. */
  readonly madeAt: number;
  usedAt: number;
}

/** A connection that nobody has used for so long may be dead, in milliseconds. */
const COLD_MS = 1000;

/** The connections of a data source, each begun with the settings that Leaf needs before it is used. */
export class ConnectionSource {
  private readonly states = new WeakMap<RawConnection, ConnectionState>();
  private readonly told = new Set<string>();
  /** Connections that were made before are not used any more; monotonic milliseconds. */
  private trustedFrom = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly description: string,
    private readonly clock: Clock,
    private readonly options: ConnectionSourceOptions,
  ) {}

  /**
   * A connection for one user, who has to {@link close} it. The driver has a limit for the time to connect.
   *
   * @param deadline of the first statements, in monotonic milliseconds
   * @throws LeafError `LEAF_DATABASE_UNUSABLE` when the database can lose what it confirms; what the driver throws
   */
  async open(deadline: number): Promise<Session> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner();
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

  /** @param faulty it is not used again, nor is any that is as old: what it led to may be gone */
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
      if (!(await withinDeadline(beginning, deadline, this.clock))) throw new NoAnswer(Math.round(deadline - madeAt));
      const weaknesses = await beginning;
      assertDurable(this.description, weaknesses, accepted);
      for (const weakness of weaknesses) {
        if (this.told.has(weakness.setting)) continue;
        this.told.add(weakness.setting);
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

/** TypeORM gives the driver's connection, of which it knows no type. */
async function connection(runner: QueryRunner): Promise<RawConnection> {
  return (await runner.connect()) as RawConnection;
}
