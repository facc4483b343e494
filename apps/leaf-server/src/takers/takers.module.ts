import { Global, Module } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { TokenFile } from '../tokens/token-file';
import { AdminTokens, TokenSet } from '../tokens/token-set';
import { TakerAccess } from './taker-access';

/** Provides the access of taker tokens to every module. */
@Global()
@Module({
  providers: [
    {
      provide: TokenSet,
      useFactory: ({ takers }: LeafConfig, clock: Clock) => new TokenSet(takers?.tokens ?? [], clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: TokenFile,
      useFactory: ({ takers }: LeafConfig, tokens: TokenSet, clock: Clock) =>
        new TokenFile({ variable: 'LEAF_TAKER_TOKENS_FILE', kind: 'taker', file: takers?.file }, tokens, clock),
      inject: [LEAF_CONFIG, TokenSet, Clock],
    },
    {
      provide: TakerAccess,
      useFactory: ({ takers: config }: LeafConfig, takers: TokenSet, admins: AdminTokens, clock: Clock) => {
        const enabled = config !== undefined;
        return new TakerAccess({ enabled, rules: config?.rules ?? {}, takers, admins }, clock);
      },
      inject: [LEAF_CONFIG, TokenSet, AdminTokens, Clock],
    },
  ],
  exports: [TakerAccess],
})
export class TakersModule {}
