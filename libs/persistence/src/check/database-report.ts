/** What `leaf-server check` found. */
export interface DatabaseReport {
  /** Whether servers with this configuration give every tag from where it is, and begin none anew. */
  readonly ok: boolean;
  readonly databases: readonly CheckedDatabase[];
  /** By name; a tag that has rows in several databases is there several times. */
  readonly tags: readonly CheckedTag[];
  /** What to do, in sentences. */
  readonly problems: readonly string[];
}

export interface CheckedDatabase {
  readonly name: string;
  /** Its URL without secrets. */
  readonly database: string;
  /** `new`: there are no tables of Leaf, a start makes them. `unusable`: it cannot be read. */
  readonly state: 'ready' | 'new' | 'unusable';
  readonly tags: number;
  /** Deleted tags that it remembers. */
  readonly deleted: number;
}

export interface CheckedTag {
  readonly tag: string;
  /** Where the row is. */
  readonly database: string;
  /** Where it belongs by this configuration. */
  readonly owner: string;
  /** The first ID that is not taken, decimal. */
  readonly maxId: string;
  /**
   * `misplaced`: it is refused, since the database that it belongs to has no row. `left over`: the other row gives IDs.
   * `behind`: it would give IDs again.
   */
  readonly state: 'ok' | 'misplaced' | 'left over' | 'behind';
}
