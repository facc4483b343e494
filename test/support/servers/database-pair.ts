import type { PrivateServer } from './private-server';

/** A connection of an administrator. */
export interface AdminSession {
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Rolls back uncommitted changes. */
  close(): Promise<void>;
}

/** Operations of database servers in their SQL dialects. */
export interface DatabaseServer extends PrivateServer {
  /** SQL that gives the name by which Leaf tells this server from the others of its pair. */
  readonly identity: string;
  /** Statements after which a session is the only one to use `table`, until it is closed. */
  lockTable(table: string): readonly string[];
  open(database: string): Promise<AdminSession>;
  /** Creates an empty database that belongs to the user `leaf`, who has no rights beyond it; gives the user's URL. */
  createOwnedDatabase(): Promise<string>;
  /** Refuses the writes of ordinary users from now on; their connections stay open. */
  turnReadOnly(): Promise<void>;
}

/** A primary and its replica. A replica that has been promoted is the primary; the pair has no replica until `rejoin`. */
export interface DatabasePair {
  readonly primary: DatabaseServer;
  readonly replica: DatabaseServer;
  /** Starts the primary again after a kill, as it was. */
  restart(): Promise<void>;
  /** Resolves when the replica has all that the primary has. */
  waitForReplica(): Promise<void>;
  /** Stops replication without notice. */
  stopReplication(): Promise<void>;
  /** Makes the replica the primary, once it has applied all that it received. The old one takes no writes any more. */
  promote(): Promise<void>;
  /** Makes a new replica from the data of the primary, and ends the primary before it. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}
