import { Controller, Get } from '@nestjs/common';
import { Clock } from '@leaf/core';

/** The clock of this server, for the start-up check of its peers. */
@Controller('api/internal')
export class TimeController {
  constructor(private readonly clock: Clock) {}

  @Get('time')
  time(): { readonly now: number } {
    return { now: this.clock.now() };
  }
}
