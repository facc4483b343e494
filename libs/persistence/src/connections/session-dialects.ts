import type { DatabaseTarget } from '../database/database-url';
import { MYSQL_SESSION } from '../dialects/mysql-session';
import { POSTGRES_SESSION } from '../dialects/postgres-session';
import type { SessionDialect } from './session-dialect';

const NOTHING: SessionDialect = { begin: () => Promise.resolve([]) };

export const SESSION_DIALECTS: Readonly<Record<DatabaseTarget['dialect'], SessionDialect>> = {
  sqlite: NOTHING,
  mysql: MYSQL_SESSION,
  postgres: POSTGRES_SESSION,
};
