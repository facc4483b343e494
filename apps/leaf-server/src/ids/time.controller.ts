import { Controller, Get } from '@nestjs/common';
import { Clock } from '@leaf/core';
import { Describe, json } from '../openapi/route-description';
import { object, wholeNumber } from '../openapi/schema';

interface TimeResponse {
  readonly now: number;
}

const TIME = object<TimeResponse>('Time', { now: wholeNumber('Unix milliseconds.', 1732000000000) });

/** The clock of this server, for the start-up check of its peers. */
@Controller('api/internal')
export class TimeController {
  constructor(private readonly clock: Clock) {}

  @Get('time')
  @Describe({
    id: 'time',
    group: 'Watching',
    summary: 'The clock of this server',
    detail: 'Its peers compare theirs with it when they start.',
    answers: { 200: json(TIME, 'The time.') },
  })
  time(): TimeResponse {
    return { now: this.clock.now() };
  }
}
