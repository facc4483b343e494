import { Module } from '@nestjs/common';
import { HealthController } from './health.controller';
import { ServerReadiness } from './server-readiness';

@Module({ controllers: [HealthController], providers: [ServerReadiness] })
export class HealthModule {}
