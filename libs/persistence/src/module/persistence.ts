import type { OnApplicationShutdown } from '@nestjs/common';
import type { SegmentStore, TagStore } from '@leaf-ids/core';

/** The stores on the database, which closes after the components that write to it at shutdown. */
export class Persistence implements OnApplicationShutdown {
  private stopUser: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly segments: SegmentStore,
    readonly tags: TagStore,
    private readonly close?: () => Promise<void>,
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
    await this.close?.();
  }
}
