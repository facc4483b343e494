import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { IdService } from '@leaf-ids/core';
import { reasonOf } from '@leaf-ids/core/internal';
import { LeafClient } from './leaf-client';

/** Prefetches at the start, and closes the client at shutdown, after the application has stopped serving requests. */
@Injectable()
export class ClientLifecycle implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('LeafClient');

  constructor(
    private readonly client: LeafClient,
    private readonly ids: IdService,
  ) {}

  /**
   * Sends no request if a test overrides the provider `IdService`. A failure does not stop the application: the Leaf
   * servers may come up later.
   */
  async onModuleInit(): Promise<void> {
    if (this.ids !== this.client) return;
    try {
      await this.client.ready();
    } catch (error) {
      this.logger.warn(`The preload is incomplete; the remaining IDs are fetched on first use: ${reasonOf(error)}`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const { tags, snowflakes } = await this.client.close();
    const dropped = [...tags].map(([tag, count]) => `${count} of ${tag}`);
    if (snowflakes > 0) dropped.push(`${snowflakes} snowflake IDs`);
    if (dropped.length > 0) this.logger.log(`Closed; unused prefetched IDs: ${dropped.join(', ')}.`);
  }
}
