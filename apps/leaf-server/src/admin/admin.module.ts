import { Module } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { AdminTokenFile } from '../tokens/token-file';
import { AdminTokens } from '../tokens/token-set';
import { AdminGuard } from './admin.guard';
import { Audit } from './audit';
import { FailureLimit } from '../tokens/failure-limit';
import { ServerAdminController } from './server-admin.controller';
import { TagAdmin } from './tag-admin';
import { TagAdminController } from './tag-admin.controller';
import { TagsController } from './tags.controller';

@Module({
  controllers: [TagsController, TagAdminController, ServerAdminController],
  providers: [
    {
      provide: AdminTokens,
      useFactory: ({ adminTokens }: LeafConfig, clock: Clock) => new AdminTokens(adminTokens, clock),
      inject: [LEAF_CONFIG, Clock],
    },
    {
      provide: AdminTokenFile,
      useFactory: ({ adminTokenFile }: LeafConfig, tokens: AdminTokens, clock: Clock) =>
        new AdminTokenFile(adminTokenFile, tokens, clock),
      inject: [LEAF_CONFIG, AdminTokens, Clock],
    },
    FailureLimit,
    AdminGuard,
    Audit,
    TagAdmin,
  ],
})
export class AdminModule {}
