import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { OverloadCounts } from './overload/refusals';
import { RequestCounts } from './request-counts';
import { LastFailure, ProblemFilter } from './responses/problem';

/** Request counts from ahead of Nest for every module, and the responses to errors. */
@Module({})
export class HttpModule {
  static forRoot(requests: RequestCounts, overload: OverloadCounts): DynamicModule {
    return {
      module: HttpModule,
      global: true,
      providers: [
        { provide: RequestCounts, useValue: requests },
        { provide: OverloadCounts, useValue: overload },
        {
          provide: LastFailure,
          useFactory: ({ httpAdapter }: HttpAdapterHost) => httpAdapter.getInstance<FastifyInstance>().lastFailure,
          inject: [HttpAdapterHost],
        },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: [RequestCounts, OverloadCounts, LastFailure],
    };
  }
}
