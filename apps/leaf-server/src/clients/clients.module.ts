import { Global, Module } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { TokenFile } from '../tokens/token-file';
import { AdminTokens, TokenSet } from '../tokens/token-set';
import { ClientAccess } from './client-access';

/** Provides the access of client tokens to every module. */
@Global()
@Module({
  providers: [
    {
      provide: TokenSet,
      useFactory: ({ clients }: LeafConfig, clock: Clock) => new TokenSet(clients?.tokens ?? [], clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: TokenFile,
      useFactory: ({ clients }: LeafConfig, tokens: TokenSet, clock: Clock) =>
        new TokenFile({ variable: 'LEAF_CLIENT_TOKENS_FILE', kind: 'client', file: clients?.file }, tokens, clock),
      inject: [LEAF_CONFIG, TokenSet, Clock],
    },
    {
      provide: ClientAccess,
      useFactory: ({ clients: config }: LeafConfig, clients: TokenSet, admins: AdminTokens, clock: Clock) => {
        const enabled = config !== undefined;
        return new ClientAccess({ enabled, rules: config?.rules ?? {}, clients, admins }, clock);
      },
      inject: [LEAF_CONFIG, TokenSet, AdminTokens, Clock],
    },
  ],
  exports: [ClientAccess],
})
export class ClientsModule {}
