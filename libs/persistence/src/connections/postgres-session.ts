import type { SessionDialect } from './session-dialect';
import type { Weakness } from './weakness';

interface Settings {
  readonly pid: number;
  readonly fsync: string;
  readonly synchronous_commit: string;
}

const READ = `SELECT pg_backend_pid() AS pid, current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous_commit`;

/** Commits are awaited, whatever is configured while the session lasts; what is stricter than that stays. */
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
  begin: async (statement, { statementMs }, processId) => {
    const [read] = await statement<readonly Settings[]>(READ);
    const weaknesses: Weakness[] = [];
    if (read?.fsync !== 'on') {
      weaknesses.push({
        setting: 'fsync',
        value: String(read?.fsync),
        consequence:
          'a crash of its host takes back commits or destroys the database, and IDs come twice. Set it to on.',
      });
    }
    // Behind a pooler that shares connections, a setting would reach other applications, and not our next statement.
    if (read?.pid === processId) {
      await statement(settings(statementMs));
    } else if (read?.synchronous_commit === 'off') {
      weaknesses.push({
        setting: 'synchronous_commit',
        value: 'off',
        consequence:
          'a crash of the database takes back the newest commits, and their IDs come twice. Behind this pooler a session cannot set it: ALTER ROLE … SET synchronous_commit = on.',
      });
    }
    return weaknesses;
  },
};
