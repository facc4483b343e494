import { Module } from '@nestjs/common';
import { ApiDocument } from './api-document';
import { OpenApiController } from './openapi.controller';

@Module({ controllers: [OpenApiController], providers: [ApiDocument] })
export class OpenApiModule {}
