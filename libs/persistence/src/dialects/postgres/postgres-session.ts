import { LeafError } from '@leaf-ids/core';
import { FAULT, faultsBy, notUpYetBy } from '../../connections/database-faults';
import type { SessionDialect, Weakness } from '../../connections/session';

interface Settings {
  readonly pid: number;
  readonly fsync: string;
  readonly synchronous_commit: string;
  /** The first schema of the search path; null when it does not exist. */
  readonly schema: string | null;
}

const READ = `SELECT pg_backend_pid() AS pid, current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous_commit, current_schema() AS schema`;

/** The remedy when a connection cannot choose the schema. */
export const ROLE_SCHEMA =
  'Remove the parameter schema from the URL and set it for the role: ALTER ROLE … SET search_path = ….';

/** Raises synchronous_commit to at least `on`; stricter values remain. */
function settings(statementMs: number): string {
  return [
    `SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'off'
      THEN 'on' ELSE current_setting('synchronous_commit') END, false)`,
    `SET statement_timeout = ${statementMs}`,
    `SET lock_timeout = ${Math.ceil(statementMs / 2)}`,
    `SET idle_in_transaction_session_timeout = ${2 * statementMs}`,
    'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED',
  ].join('; ');
}

export const POSTGRES_SESSION: SessionDialect = {
  begin: async (statement, { statementMs, schema }, processId) => {
    const [read] = await statement<readonly Settings[]>(READ);
    const isPooled = read?.pid !== processId;
    if (schema !== undefined) assertSchema(schema, read?.schema, isPooled);
    const weaknesses: Weakness[] = [];
    if (read?.fsync !== 'on') {
      weaknesses.push({
        setting: 'fsync',
        value: String(read?.fsync),
        consequence:
          'a crash of the host loses commits or corrupts the database, and IDs are issued twice. Set it to on.',
      });
    }
    // Behind a pooler that shares connections, a setting would affect other clients, and possibly not the next
    // statement.
    if (!isPooled) {
      await statement(settings(statementMs));
    } else if (read?.synchronous_commit === 'off') {
      weaknesses.push({
        setting: 'synchronous_commit',
        value: 'off',
        consequence:
          'a crash of the database loses the newest commits, and their IDs are issued twice. A session cannot set it behind this pooler; use ALTER ROLE … SET synchronous_commit = on.',
      });
    }
    return weaknesses;
  },
  durabilitySettings: ['fsync', 'synchronous_commit'],
  isFile: false,
  // By SQLSTATE.
  faultOf: faultsBy({
    '40001': FAULT.soon,
    '40P01': FAULT.soon,
    '55P03': { again: 'soon', locked: true, hint: 'another transaction has locked the row; the statement is retried' },
    '25P02': { again: 'later', connection: true, hint: 'an earlier transaction on the connection was not ended' },
    '22021': FAULT.unwritable,
    '22P05': FAULT.unwritable,
    '25006': FAULT.readOnly,
    '55000': FAULT.readOnly,
    '42P01': FAULT.schema,
    '42703': FAULT.schema,
    '42501': FAULT.rights,
    '28000': FAULT.login,
    '28P01': FAULT.login,
    '3D000': FAULT.noDatabase,
    '53100': FAULT.full,
    '53300': FAULT.noConnection,
    '57014': { again: 'later', hint: 'the statement timed out and was cancelled' },
    '57P01': FAULT.away,
    '57P02': FAULT.away,
    '57P03': FAULT.away,
    NO_WRITABLE_HOST: FAULT.readOnly,
  }),
  ofStatement: /^(?!08|25|57P|58|XX)[0-9A-Z]{5}$/,
  isNotUpYet: notUpYetBy(
    ['55P03', '57014', '57P03', 'NO_WRITABLE_HOST'],
    /^(timeout expired|timeout exceeded when trying to connect|Connection terminated due to connection timeout|Query read timeout)$/,
  ),
};

/** A pooler may reset the search path between transactions, so that statements would use tables of another schema. */
function assertSchema(schema: string, found: string | null | undefined, isPooled: boolean): void {
  if (isPooled) throw schemaUnusable(`cannot be set behind a pooler. ${ROLE_SCHEMA}`);
  if (found === schema) return;
  throw schemaUnusable(
    `"${schema}" does not exist or this user has no USAGE privilege. Run CREATE SCHEMA and GRANT USAGE, or correct the URL.`,
  );
}

function schemaUnusable(problem: string): LeafError {
  return new LeafError('LEAF_DATABASE_UNUSABLE', `The schema of the database URL ${problem}`);
}
