import { Controller, Get } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '../openapi/decorators';

class Time {
  @ApiProperty({ type: 'integer', description: 'Unix milliseconds.', example: 1732000000000 })
  readonly now!: number;
}

/** The clock of this server, for the startup check of its peers. */
@Controller('api/internal')
@ApiTags('Watching')
export class TimeController {
  constructor(private readonly clock: Clock) {}

  @Get('time')
  @ApiOperation({
    operationId: 'time',
    summary: 'The clock of this server',
    description: 'Peers compare their clocks with it at startup.',
  })
  @ApiResponse({ status: 200, description: 'The current time.', type: Time })
  time(): Time {
    return { now: this.clock.now() };
  }
}
