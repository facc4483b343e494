import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { ApiDocument } from './api-document';
import { OpenApiController } from './openapi.controller';

@Module({ controllers: [OpenApiController], providers: [ApiDocument] })
export class OpenApiModule {
  /** Redirects `/docs/` to `/docs`, because the links of the page are relative to `/docs`. */
  constructor({ httpAdapter }: HttpAdapterHost) {
    httpAdapter.getInstance<FastifyInstance>().addHook('onRequest', ({ url, method }, reply, done) => {
      // The location is relative, because a proxy may serve the page under a prefix.
      if (url === '/docs/' && method === 'GET') void reply.redirect('../docs', 308);
      else done();
    });
  }
}
