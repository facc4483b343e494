import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LeafError, type LeafErrorCode } from '@leaf-ids/core';
import { codeOf, messageOf } from '@leaf-ids/core/internal';
import { faultBeneath } from '../connections/database-faults';
import type { SessionDialect } from '../connections/session';
import type { SqlDatabase } from '../connections/sql-database';
import type { WorkerDialect } from './worker-row';

/** A database that is opened on first use. */
export interface WorkerDatabase {
  readonly dialect: { readonly session: SessionDialect; readonly workers: WorkerDialect };
  readonly target: {
    /** For logs and errors: no secrets. */
    readonly description: string;
    /** Path of an SQLite file. */
    readonly file?: string | undefined;
  };
  open(): Promise<{ readonly access: SqlDatabase }>;
  close(): Promise<void>;
}

const FAILED: readonly LeafErrorCode[] = ['LEAF_STORE_UNAVAILABLE', 'LEAF_DATABASE_UNUSABLE'];

/** The database of a worker registry; maps database errors to registry errors. */
export class RegistryDatabase {
  /** The identity of the SQLite file when it was opened. */
  private opened: Promise<Stats | undefined> | undefined;

  constructor(private readonly database: WorkerDatabase) {}

  get description(): string {
    return this.database.target.description;
  }

  /**
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` for transient faults, `LEAF_CONFIG_INVALID` for missing privileges
   *   and wrong credentials
   */
  async run<T>(act: (access: SqlDatabase) => Promise<T>): Promise<T> {
    try {
      const { access } = await this.database.open();
      await this.rememberFile();
      return await act(access);
    } catch (error) {
      throw this.explained(error);
    }
  }

  /**
   * As {@link run}, but refuses an SQLite file that was removed or replaced, because no other server would see the
   * write.
   *
   * @throws LeafError `LEAF_LEASE_LOST` for such a file: another server may get any worker ID from its replacement
   */
  write<T>(act: (access: SqlDatabase) => Promise<T>): Promise<T> {
    return this.run(async (access) => {
      await this.assertFileInPlace();
      return act(access);
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async rememberFile(): Promise<void> {
    this.opened ??= this.file();
    try {
      await this.opened;
    } catch (error) {
      this.opened = undefined;
      throw error;
    }
  }

  private async assertFileInPlace(): Promise<void> {
    const { file } = this.database.target;
    if (file === undefined) return;
    const [opened, found] = [await this.opened, await this.file()];
    if (opened !== undefined && found?.ino === opened.ino && found.dev === opened.dev) return;
    throw new LeafError(
      'LEAF_LEASE_LOST',
      `The file ${file} of the worker registry was removed or replaced while this server had it open. Restart the servers that use it, and do not touch the file while servers run.`,
    );
  }

  /** Undefined when the file does not exist. */
  private async file(): Promise<Stats | undefined> {
    const { file } = this.database.target;
    if (file === undefined) return undefined;
    try {
      return await stat(file);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new LeafError(
        'LEAF_REGISTRY_UNREACHABLE',
        `The file ${file} of the worker registry cannot be accessed: ${messageOf(error)}. The server retries by itself.`,
        { cause: error, retryAfterMs: 1000 },
      );
    }
  }

  private explained(error: unknown): unknown {
    if (!(error instanceof LeafError) || !FAILED.includes(error.code)) return error;
    const fault = faultBeneath(error, this.database.dialect.session.faultOf);
    if (fault?.byHand === true) {
      return new LeafError(
        'LEAF_CONFIG_INVALID',
        `The worker registry in ${this.description} cannot be used: ${fault.hint}. The database error is in the log of this server.`,
        { cause: error.cause },
      );
    }
    if (error.code !== 'LEAF_STORE_UNAVAILABLE') return error;
    return new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `The worker registry in ${this.description} does not respond; the cause is in the log of this server. The server retries by itself. Check that the database is up, reachable and writable.`,
      { cause: error.cause ?? error, retryAfterMs: 1000 },
    );
  }
}
