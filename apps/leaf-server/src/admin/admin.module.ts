import { Module } from '@nestjs/common';
import { AdminGuard } from './admin.guard';
import { Audit } from './audit';
import { FailureLimit } from '../tokens/token-check';
import { ServerAdmin, ServerAdminController } from './server-admin.controller';
import { TagAdmin } from './tag-admin';
import { TagAdminController, TagsController } from './tag-admin.controller';
import { ClientAdminController } from './client-admin.controller';

@Module({
  controllers: [TagsController, TagAdminController, ServerAdminController, ClientAdminController],
  providers: [FailureLimit, AdminGuard, Audit, TagAdmin, ServerAdmin],
  exports: [FailureLimit, Audit, TagAdmin, ServerAdmin],
})
export class AdminModule {}
