import { Module } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { FailureLimit } from '../tokens/token-check';
import { TokenFile } from '../tokens/token-file';
import { WorkerGuard, WorkerTokens } from './worker.guard';
import { WorkersController } from './workers.controller';

/** Worker IDs for processes that issue snowflake IDs themselves. */
@Module({
  controllers: [WorkersController],
  providers: [
    FailureLimit,
    WorkerGuard,
    {
      provide: WorkerTokens,
      useFactory: ({ workers }: LeafConfig, clock: Clock) => new WorkerTokens(workers?.tokens ?? [], clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: TokenFile,
      useFactory: ({ workers }: LeafConfig, tokens: WorkerTokens, clock: Clock) =>
        new TokenFile({ variable: 'LEAF_WORKER_TOKENS_FILE', kind: 'worker', file: workers?.file }, tokens, clock),
      inject: [LEAF_CONFIG, WorkerTokens, Clock],
    },
  ],
})
export class WorkerWindowsModule {}
