import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiOperation, ApiResponse, ApiTags } from '../openapi/decorators';
import { contentOf } from '../openapi/schemas';
import { Metrics } from './metrics';

@Controller('metrics')
@ApiTags('Watching')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @ApiOperation({ operationId: 'metrics', summary: 'The figures of this server for Prometheus' })
  @ApiResponse({
    status: 200,
    description: 'The figures.',
    ...contentOf('text/plain', 'Exposition format 0.0.4.', 'leaf_segment_tags 1'),
  })
  async text(@Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    void reply.header('content-type', this.metrics.contentType);
    return this.metrics.text();
  }
}
