import { Global, Module } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { adminTokens, makeToken } from '../config/tokens';
import { TokenFile } from './token-file';
import { AdminTokens } from './token-set';

/** The admin tokens: the admin API requires one, and the ID routes accept one. */
@Global()
@Module({
  providers: [
    {
      provide: AdminTokens,
      useFactory: ({ adminTokens: tokens = [makeToken()] }: LeafConfig, clock: Clock) => new AdminTokens(tokens, clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: TokenFile,
      useFactory: ({ adminTokenFile: file }: LeafConfig, tokens: AdminTokens, clock: Clock) =>
        new TokenFile({ variable: 'LEAF_ADMIN_TOKEN_FILE', kind: 'admin', file, parse: adminTokens }, tokens, clock),
      inject: [LEAF_CONFIG, AdminTokens, Clock],
    },
  ],
  exports: [AdminTokens],
})
export class TokensModule {}
