import { Controller, Get, Query } from '@nestjs/common';
import { IdService } from '@leaf-ids/core';
import { ApiOperation, ApiProperty, ApiQuery, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems } from '../openapi/problems';
import { ID } from '../openapi/schemas';
import { parseId } from '../ids/id-text';

class JavaDecoded {
  @ApiProperty({
    description: 'Unix milliseconds, and the time in the time zone of the server.',
    example: '1567733700834(2019-09-06 09:35:00.834)',
  })
  readonly timestamp!: string;

  @ApiProperty({ description: 'Sequence number of the ID within its millisecond.', example: '3448' })
  readonly sequenceId!: string;

  @ApiProperty({ description: 'Worker ID of the process that generated the ID.', example: '39' })
  readonly workerId!: string;
}

/** Decodes IDs at the path of the Java service. */
@Controller()
@ApiTags('Java service')
export class JavaController {
  constructor(private readonly ids: IdService) {}

  /** Formats the time in the time zone of the process, as the Java service does. */
  @Get('decodeSnowflakeId')
  @ApiOperation({
    operationId: 'decodeAsJava',
    summary: 'The fields of a snowflake ID in the format of the Java service',
  })
  @ApiQuery({ name: 'snowflakeId', ...ID })
  @ApiResponse({ status: 200, description: 'The fields.', type: JavaDecoded })
  @ApiProblems('LEAF_ID_INVALID', 'LEAF_SNOWFLAKE_DISABLED')
  decode(@Query('snowflakeId') text: unknown): JavaDecoded {
    const { timestamp, workerId, sequence } = this.ids.decode(parseId(asLong(text)));
    return {
      timestamp: `${timestamp}(${localTime(timestamp)})`,
      sequenceId: String(sequence),
      workerId: String(workerId),
    };
  }
}

/** Java's `Long.parseLong` takes a plus sign and any number of leading zeros. */
function asLong(text: unknown): unknown {
  return typeof text === 'string' ? text.replace(/^\+?0*(?=\d)/, '') : text;
}

/** `yyyy-MM-dd HH:mm:ss.SSS`. */
function localTime(timestamp: number): string {
  const time = new Date(timestamp);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const date = [pad(time.getFullYear(), 4), pad(time.getMonth() + 1), pad(time.getDate())].join('-');
  const clock = [pad(time.getHours()), pad(time.getMinutes()), pad(time.getSeconds())].join(':');
  return `${date} ${clock}.${pad(time.getMilliseconds(), 3)}`;
}
