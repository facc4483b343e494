/** The result of `leaf-server check`. */
export interface DatabaseReport {
  /** Whether every tag is in the database that this configuration assigns to it, so that no tag restarts at 1. */
  readonly ok: boolean;
  readonly databases: readonly CheckedDatabase[];
  /** Sorted by name; one entry for each row of a tag. */
  readonly tags: readonly CheckedTag[];
  /** Each problem and its remedy, in sentences. */
  readonly problems: readonly string[];
}

export interface CheckedDatabase {
  readonly name: string;
  /** Its URL without secrets. */
  readonly database: string;
  /** `new`: the tables of Leaf are missing; the first start creates them. `unusable`: the database cannot be read. */
  readonly state: 'ready' | 'new' | 'unusable';
  readonly tags: number;
  /** Number of deleted tags on record. */
  readonly deleted: number;
}

export interface CheckedTag {
  readonly tag: string;
  /** The database that has the row. */
  readonly database: string;
  /** The database that this configuration assigns to the tag. */
  readonly owner: string;
  /** The first unallocated ID, decimal. */
  readonly maxId: string;
  /**
   * `misplaced`: the tag is refused, because the database that owns it has no row. `left over`: IDs come from the row
   * in the owner. `behind`: the row in the owner would issue IDs a second time.
   */
  readonly state: 'ok' | 'misplaced' | 'left over' | 'behind';
}
