import { Controller, Get, Query } from '@nestjs/common';
import { IdService } from '@leaf/core';
import { parseId } from './id-text';

interface JavaDecodeResponse {
  readonly timestamp: string;
  readonly sequenceId: string;
  readonly workerId: string;
}

/** Routes of the Java service that its users have bookmarked. */
@Controller()
export class JavaController {
  constructor(private readonly ids: IdService) {}

  /** The time is told in the time zone of the process, as the Java service does. */
  @Get('decodeSnowflakeId')
  decode(@Query('snowflakeId') text: unknown): JavaDecodeResponse {
    const { timestamp, workerId, sequence } = this.ids.decode(parseId(text));
    return {
      timestamp: `${timestamp}(${localTime(timestamp)})`,
      sequenceId: String(sequence),
      workerId: String(workerId),
    };
  }
}

/** `yyyy-MM-dd HH:mm:ss.SSS`. */
function localTime(timestamp: number): string {
  const time = new Date(timestamp);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const date = [pad(time.getFullYear(), 4), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  const clock = [pad(time.getHours()), pad(time.getMinutes()), pad(time.getSeconds())].join(':');
  return `${date} ${clock}.${pad(time.getMilliseconds(), 3)}`;
}
