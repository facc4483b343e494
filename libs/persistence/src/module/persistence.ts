import type { OnApplicationShutdown } from '@nestjs/common';
import type { SegmentStore, TagStore } from '@leaf-ids/core';

/** What is kept in the database. It ends after those who still want to write to it. */
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
