import { EntityManager, type QueryRunner } from 'typeorm';
import type { Clock } from '@leaf-ids/core';
import { FAULT, faultsBy } from '../../../../libs/persistence/src/connections/database-faults';
import type { SqlParameter, SessionDialect } from '../../../../libs/persistence/src/connections/session';
import { SqlDatabase } from '../../../../libs/persistence/src/connections/sql-database';
import type { SeededRandom } from '../../../support/seeded-random';
import type { EngineSession, SimEngine } from './sim-engine';

/** Shares of the messages while a line is bad. */
const RATES = { lostRequest: 0.08, lostAnswer: 0.08, late: 0.05 };

const LIMIT_MS = 2000;
/** What a dead process waits for. */
const NEVER = new Promise<never>(() => undefined);

const SESSION: SessionDialect = {
  begin: () => Promise.resolve([]),
  durabilitySettings: [],
  isFile: false,
  faultOf: faultsBy({ SQLITE_BUSY: FAULT.soon }),
  ofStatement: /^SQLITE_/,
  isNotUpYet: () => true,
};

/** What is between one server process and the databases. */
export class Line {
  /** Requests and answers are lost and late. */
  isBad = false;
  isDead = false;
  /** Statements that have no answer yet, or never got one. */
  unanswered = 0;
  readonly connections = new Set<Connection>();

  /** @param isOperator it reaches databases that are down for everybody else */
  constructor(readonly isOperator = false) {}

  /** The process dies: it hears nothing any more; what it has sent may arrive. */
  die(): void {
    this.isDead = true;
    for (const connection of this.connections) connection.destroy();
  }
}

class Connection implements EngineSession {
  inTransaction = false;
  isBroken = false;
  isClosed = false;

  constructor(
    private readonly engine: SimEngine,
    readonly isOperator: boolean,
  ) {}

  destroy(): void {
    this.isClosed = true;
    this.engine.end(this);
  }
}

/** The product's access to a database, over a simulated network. */
export function accessTo(engine: SimEngine, line: Line, clock: Clock, random: SeededRandom): SqlDatabase {
  const idle: Connection[] = [];
  const travel = async (): Promise<void> => {
    if (line.isDead) await NEVER;
    const isLate = line.isBad && random.chance(RATES.late);
    await clock.sleep(isLate ? random.spread(100, 6000) : random.spread(0.1, 8));
  };
  const query = async (connection: Connection, sql: string, parameters: readonly SqlParameter[]): Promise<unknown> => {
    const isLost = line.isBad && random.chance(RATES.lostRequest);
    const isAnswerLost = line.isBad && random.chance(RATES.lostAnswer);
    const isOfTransaction = connection.inTransaction || sql === 'BEGIN';
    line.unanswered++;
    await travel();
    if (isLost || (connection.isClosed && isOfTransaction)) {
      await travel();
      throw Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
    }
    const answer = await engine.execute(connection, sql, parameters);
    await travel();
    if (isAnswerLost || line.isDead) await NEVER;
    line.unanswered--;
    return answer;
  };
  const createQueryRunner = (): QueryRunner => {
    const connection = idle.pop() ?? new Connection(engine, line.isOperator);
    line.connections.add(connection);
    const runner = {
      broadcaster: { broadcast: () => Promise.resolve() },
      connect: () => (line.isDead ? NEVER : Promise.resolve(connection)),
      query: async (sql: string, parameters: readonly SqlParameter[] = [], isStructured = false) => {
        const records = await query(connection, sql, parameters);
        return isStructured ? { records, raw: records } : records;
      },
      release: () => {
        if (connection.isClosed) line.connections.delete(connection);
        else idle.push(connection);
        return Promise.resolve();
      },
    } as unknown as QueryRunner;
    return Object.assign(runner, { manager: new EntityManager(engine.entities, runner) });
  };
  const limits = { limitMs: LIMIT_MS, statementMs: LIMIT_MS, connections: 4 };
  const durability = { accepted: [], onAccepted: () => undefined };
  return new SqlDatabase({ createQueryRunner }, engine.name, clock, { dialect: SESSION, ...limits, ...durability });
}
