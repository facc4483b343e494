import type { OnApplicationShutdown } from '@nestjs/common';
import type { SegmentStore, TagStore } from '@leaf-ids/core';

/** The stores on the database. It closes after the components that write to it at shutdown. */
export class Persistence implements OnApplicationShutdown {
  constructor(
    readonly segments: SegmentStore,
    readonly tags: TagStore,
    private readonly close?: () => Promise<void>,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.close?.();
  }
}
