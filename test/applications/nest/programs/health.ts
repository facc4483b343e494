// Compiles with the types of Terminus 10, 11 and 12.
import { LeafHealthIndicator } from '@leaf-ids/id';
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly leaf: LeafHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.leaf.check('leaf')]);
  }
}
