import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Clock, messageOf } from '@leaf-ids/core';
import { adminTokens } from '../config/admin-token';
import { readSecret } from '../config/secret-files';
import type { AdminTokens } from './admin-tokens';

const POLL_MS = 5000;

/**
 * Reads the tokens again when the content of `LEAF_ADMIN_TOKEN_FILE` changes. Polled, because a mounted secret changes
 * through symbolic links, which file events do not follow. A file that cannot be used leaves the tokens as they are.
 */
export class AdminTokenFile implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Admin');
  private readonly stopping = new AbortController();
  private newest: string | undefined;
  private problem: string | undefined;

  /** @param file undefined: there is none, and nothing happens */
  constructor(
    private readonly file: string | undefined,
    private readonly tokens: AdminTokens,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    if (this.file !== undefined) void this.watch(this.file);
  }

  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  private async watch(file: string): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      this.read(file);
      await this.clock.sleep(POLL_MS, signal);
    }
  }

  private read(file: string): void {
    try {
      const text = readSecret(file);
      if (text !== this.newest) {
        const tokens = adminTokens(text);
        this.tokens.replace(tokens);
        if (this.newest !== undefined) {
          const names = tokens.map(({ name }) => name).join(', ');
          this.logger.log(`The admin tokens in ${file} have changed; valid are those of ${names}.`);
        }
        this.newest = text;
      }
      this.problem = undefined;
    } catch (error) {
      const problem = messageOf(error);
      if (problem === this.problem) return;
      this.problem = problem;
      this.logger.error(`The admin tokens did not change: LEAF_ADMIN_TOKEN_FILE (${file}) ${problem}.`);
    }
  }
}
