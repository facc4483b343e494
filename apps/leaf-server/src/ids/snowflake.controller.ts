import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock, MAX_BATCH_SIZE } from '@leaf-ids/core';
import { assertTag, NONCE_PARAMETER } from '@leaf-ids/core/internal';
import { EmbeddedIdService } from '@leaf-ids/id';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems, SNOWFLAKE_PROBLEMS } from '../openapi/problems';
import { ApiSizeAndNonce, ID, ID_TEXT, KEY, MOMENT, NONCE_ECHO } from '../openapi/schemas';
import { BatchAnswer, oneId, parseId } from './id-text';
import { GivenSize, parseNonce, parseSize } from './parameters';
import { TakesIds } from './takes-ids';

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

class SnowflakeBatch {
  @ApiProperty(KEY)
  readonly key!: string;

  @ApiProperty({ type: 'array', items: ID })
  readonly ids!: readonly string[];
}

class SnowflakeParts {
  @ApiProperty(ID)
  readonly id!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Time at which the ID was generated, in Unix milliseconds.',
    example: 1567733700834,
  })
  readonly timestamp!: number;

  @ApiProperty({ ...MOMENT, description: 'The same time in RFC 3339, in UTC.', example: '2019-09-06T01:35:00.834Z' })
  readonly time!: string;

  @ApiProperty({ type: 'integer', description: 'Worker ID of the process that generated the ID.', example: 39 })
  readonly workerId!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Upper part of the worker ID, if the layout has data center bits.',
    example: 1,
  })
  readonly datacenterId?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Lower part of the worker ID, if the layout has data center bits.',
    example: 7,
  })
  readonly machineId?: number;

  @ApiProperty({ type: 'integer', description: 'Sequence number of the ID within its millisecond.', example: 3448 })
  readonly sequence!: number;
}

@Controller('api/snowflake')
@ApiTags('Snowflake IDs')
export class SnowflakeController {
  private readonly batchAnswer = new BatchAnswer();

  constructor(
    private readonly ids: EmbeddedIdService,
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
  ) {}

  @Get('get/:key')
  @TakesIds()
  @ApiOperation({ operationId: 'takeSnowflakeId', summary: 'The next ID' })
  @ApiParam({ name: 'key', ...KEY })
  @ApiResponse({ status: 200, ...ID_TEXT })
  @ApiProblems(...SNOWFLAKE_PROBLEMS)
  async get(@Param('key') key: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    assertTag(key);
    const [id] = await this.ids.snowflakeStrings(1);
    return oneId(id as string, reply, this.config.jsonIds);
  }

  @Get('batch/:key')
  @TakesIds(MAX_BATCH_SIZE)
  @ApiOperation({ operationId: 'takeSnowflakeIds', summary: 'The next IDs' })
  @ApiParam({ name: 'key', ...KEY })
  @ApiSizeAndNonce(MAX_BATCH_SIZE)
  @ApiResponse({ status: 200, description: 'The IDs, ascending.', type: SnowflakeBatch, headers: NONCE_ECHO })
  @ApiProblems('LEAF_SIZE_INVALID', ...SNOWFLAKE_PROBLEMS)
  async batch(
    @Param('key') key: string,
    @GivenSize() size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    assertTag(key);
    const echo = parseNonce(nonce);
    this.batchAnswer.send(reply, echo, 'key', key, await this.ids.snowflakeRanges(parseSize(size, MAX_BATCH_SIZE)));
  }

  @Get('decode/:id')
  @ApiOperation({
    operationId: 'decodeSnowflakeId',
    summary: 'The fields of a snowflake ID',
    description: 'Uses the bit layout and the epoch of this server.',
  })
  @ApiParam({ name: 'id', ...ID })
  @ApiResponse({ status: 200, description: 'The fields.', type: SnowflakeParts })
  @ApiProblems('LEAF_ID_INVALID', 'LEAF_SNOWFLAKE_DISABLED')
  decode(@Param('id') text: string): SnowflakeParts {
    const id = parseId(text);
    const { timestamp, sequence, ...place } = this.ids.decode(id);
    return { id: String(id), timestamp, time: new Date(timestamp).toISOString(), ...place, sequence };
  }
}
