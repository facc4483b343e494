import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Describe, plainText } from '../openapi/route-description';
import { text } from '../openapi/schema';
import { Metrics } from './metrics';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Describe({
    id: 'metrics',
    group: 'Watching',
    summary: 'The figures of this server for Prometheus',
    answers: { 200: plainText(text('Exposition format 0.0.4.', 'leaf_segment_tags 1'), 'The figures.') },
  })
  async text(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.header('content-type', this.metrics.contentType);
    return this.metrics.text();
  }
}
