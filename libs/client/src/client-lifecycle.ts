import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { reasonOf } from '@leaf-ids/core';
import { LeafClient } from './leaf-client';

/** Fetches ahead at the start, closes at the end, when the application serves nobody any more. */
@Injectable()
export class ClientLifecycle implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('LeafClient');

  constructor(private readonly client: LeafClient) {}

  /** An application starts without a Leaf server, too: it may come up later. */
  async onModuleInit(): Promise<void> {
    try {
      await this.client.ready();
    } catch (error) {
      this.logger.warn(`Not all IDs could be fetched ahead of the first call: ${reasonOf(error)}`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const { tags, snowflakes } = await this.client.close();
    const dropped = [...tags].map(([tag, count]) => `${count} of ${tag}`);
    if (snowflakes > 0) dropped.push(`${snowflakes} snowflake IDs`);
    if (dropped.length > 0) this.logger.log(`Closed; fetched and not used: ${dropped.join(', ')}.`);
  }
}
