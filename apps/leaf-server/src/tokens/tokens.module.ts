import { Global, Module } from '@nestjs/common';
import { Clock, formatInstance } from '@leaf-ids/core';
import { serverInstance } from '@leaf-ids/core/internal';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { makeToken } from '../config/tokens';
import { ClusterTokens } from './cluster-tokens';
import { TokenFile } from './token-file';
import { AdminTokens } from './token-set';

const CLUSTER_TOKEN_FILE = Symbol('cluster token file');

/**
 * The admin tokens: the admin API requires one, and the ID routes accept one. The cluster tokens: other servers sign
 * their requests with one.
 */
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
        new TokenFile({ variable: 'LEAF_ADMIN_TOKEN_FILE', kind: 'admin', file }, tokens, clock),
      inject: [LEAF_CONFIG, AdminTokens, Clock],
    },
    {
      provide: ClusterTokens,
      useFactory: ({ cluster, instance }: LeafConfig, clock: Clock) =>
        new ClusterTokens(cluster?.tokens ?? [], serverInstance(formatInstance(instance)), clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: CLUSTER_TOKEN_FILE,
      useFactory: ({ cluster }: LeafConfig, tokens: ClusterTokens, clock: Clock) =>
        new TokenFile({ variable: 'LEAF_CLUSTER_TOKEN_FILE', kind: 'cluster', file: cluster?.file }, tokens, clock),
      inject: [LEAF_CONFIG, ClusterTokens, Clock],
    },
  ],
  exports: [AdminTokens, ClusterTokens],
})
export class TokensModule {}
