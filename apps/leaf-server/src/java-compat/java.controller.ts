import { Controller, Get, Query } from '@nestjs/common';
import { IdService } from '@leaf/core';
import { Describe, json } from '../openapi/route-description';
import { object, text } from '../openapi/schema';
import { ID } from '../openapi/shared-schemas';
import { parseId } from '../ids/id-text';

interface JavaDecodeResponse {
  readonly timestamp: string;
  readonly sequenceId: string;
  readonly workerId: string;
}

const DECODED = object<JavaDecodeResponse>('JavaDecoded', {
  timestamp: text(
    'Unix milliseconds, and the time in the time zone of the server.',
    '1567733700834(2019-09-06 09:35:00.834)',
  ),
  sequenceId: text('Of the ID within its millisecond.', '3448'),
  workerId: text('Of the server that made it.', '39'),
});

/** Routes of the Java service that its users have bookmarked. */
@Controller()
export class JavaController {
  constructor(private readonly ids: IdService) {}

  /** The time is told in the time zone of the process, as the Java service does. */
  @Get('decodeSnowflakeId')
  @Describe({
    id: 'decodeAsJava',
    group: 'Java service',
    summary: 'The fields of a snowflake ID as the Java service tells them',
    query: { snowflakeId: ID },
    answers: { 200: json(DECODED, 'The fields.') },
    problems: ['LEAF_ID_INVALID', 'LEAF_SNOWFLAKE_DISABLED'],
  })
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
