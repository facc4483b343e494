import type { PrivateServer } from './private-server';

/** A connection of an administrator. */
export interface AdminSession {
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Rolls back uncommitted changes. */
  close(): Promise<void>;
}

/** Operations of database servers in their SQL dialects. */
export interface DatabaseServer extends PrivateServer {
  /** SQL that returns the name by which Leaf distinguishes the servers of a pair. */
  readonly identity: string;
  /** Statements after which a session is the only one to use `table`, until it is closed. */
  lockTable(table: string): readonly string[];
  open(database: string): Promise<AdminSession>;
  /** Creates an empty database that belongs to the user `leaf`, who has no rights beyond it; gives the user's URL. */
  createOwnedDatabase(): Promise<string>;
  /** Makes the server read-only for ordinary users; their connections stay open. */
  turnReadOnly(): Promise<void>;
}

/** A primary and its replica. A replica that has been promoted is the primary; the pair has no replica until `rejoin`. */
export interface DatabasePair {
  readonly primary: DatabaseServer;
  readonly replica: DatabaseServer;
  /** Starts the primary again after a kill, as it was. */
  restart(): Promise<void>;
  /** Resolves when the replica has caught up with the primary. */
  waitForReplica(): Promise<void>;
  /** Stops replication without notice. */
  stopReplication(): Promise<void>;
  /** Promotes the replica after it has applied all received updates. The old primary refuses writes. */
  promote(): Promise<void>;
  /** Creates a new replica from the data of the primary, and stops the old primary. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}
