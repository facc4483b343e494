import type { HealthCheckResult } from '@nestjs/terminus';
import { mapOf, object, type Schema } from '../openapi/schema';

const PART: Schema = {
  type: 'object',
  description: 'What a part says of itself.',
  properties: { status: { type: 'string', enum: ['up', 'degraded', 'down'] } },
  required: ['status'],
  additionalProperties: true,
};

/** The format of @nestjs/terminus. */
export const HEALTH = object<HealthCheckResult>('Health', {
  status: { type: 'string', enum: ['ok', 'degraded', 'error', 'shutting_down'] },
  info: { ...mapOf(PART), description: 'The parts that work.' },
  error: { ...mapOf(PART), description: 'The parts that do not.' },
  details: { ...mapOf(PART), description: 'All parts.' },
});
