import type { OnApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { SegmentStore, TagStore } from '@leaf-ids/core';

/** The stores on the database, which closes after the components that write to it at shutdown. */
export class Persistence implements OnApplicationShutdown {
  private stopUser: () => Promise<void> = () => Promise.resolve();

  /**
   * @param dataSource returns the open data source of a database, given by its name if there are several
   * @param close repeatable
   */
  constructor(
    readonly segments: SegmentStore,
    readonly tags: TagStore,
    readonly dataSource: (name?: string) => DataSource | undefined,
    private readonly close: () => Promise<void>,
  ) {}

  /**
   * Stops a component before the database closes: up to version 10, Nest stops a module before those that import it.
   *
   * @param stop repeatable, and never rejects
   */
  closeAfter(stop: () => Promise<void>): void {
    this.stopUser = stop;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stopUser();
    await this.close();
  }
}
