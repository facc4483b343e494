import { Controller, Get, Header, Inject, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';
import { assertTag, NONCE_HEADER, NONCE_PARAMETER } from '@leaf-ids/core/internal';
import { EmbeddedIdService } from '@leaf-ids/id';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { JSON_TYPE } from '../http/fast-path';
import { ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '../openapi/decorators';
import { ApiProblems, SEGMENT_PROBLEMS } from '../openapi/problems';
import { ApiSizeAndNonce, ID, ID_TEXT, NONCE_ECHO, TAG } from '../openapi/schemas';
import { rangesText } from '../http/responses/batch-text';
import { BatchAnswer, oneId } from './id-text';
import { GivenSize, parseNonce, parseSize } from './parameters';
import { TakesIds } from './takes-ids';

class SegmentBatch {
  @ApiProperty(TAG)
  readonly tag!: string;

  @ApiProperty({ type: 'array', items: ID })
  readonly ids!: readonly string[];
}

export class IdRange {
  @ApiProperty({ ...ID, description: 'The first ID.', example: '1' })
  readonly from!: string;

  @ApiProperty({ ...ID, description: 'The last ID, inclusive.', example: '1000' })
  readonly to!: string;
}

class SegmentRanges {
  @ApiProperty(TAG)
  readonly tag!: string;

  @ApiPropertyOptional({
    enum: ['strict'],
    description:
      'Present for a strict tag, whose IDs ascend across all servers. To preserve the order, give the IDs only to callers that were waiting when this request was sent, and discard the rest.',
  })
  readonly order?: 'strict';

  @ApiProperty({ type: [IdRange] })
  readonly ranges!: readonly IdRange[];
}

@Controller('api/segment')
@ApiTags('Segment IDs')
export class SegmentController {
  private readonly batchAnswer = new BatchAnswer();

  constructor(
    private readonly ids: EmbeddedIdService,
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
  ) {}

  @Get('get/:tag')
  @TakesIds()
  @ApiOperation({ operationId: 'takeSegmentId', summary: 'The next ID of a tag' })
  @ApiParam({ name: 'tag', ...TAG })
  @ApiResponse({ status: 200, ...ID_TEXT })
  @ApiProblems('LEAF_TAG_PERIODIC', 'LEAF_TAG_GAPLESS', ...SEGMENT_PROBLEMS)
  async get(@Param('tag') tag: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    assertTag(tag);
    return oneId(await this.ids.nextIdString(tag), reply, this.config.jsonIds);
  }

  @Get('batch/:tag')
  @TakesIds(MAX_BATCH_SIZE)
  @ApiOperation({ operationId: 'takeSegmentIds', summary: 'The next IDs of a tag' })
  @ApiParam({ name: 'tag', ...TAG })
  @ApiSizeAndNonce(MAX_BATCH_SIZE)
  @ApiResponse({ status: 200, description: 'The IDs, ascending.', type: SegmentBatch, headers: NONCE_ECHO })
  @ApiProblems('LEAF_SIZE_INVALID', 'LEAF_TAG_PERIODIC', 'LEAF_TAG_GAPLESS', ...SEGMENT_PROBLEMS)
  async batch(
    @Param('tag') tag: string,
    @GivenSize() size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    assertTag(tag);
    const echo = parseNonce(nonce);
    this.batchAnswer.send(reply, echo, 'tag', tag, await this.ids.nextRanges(tag, parseSize(size, MAX_BATCH_SIZE)));
  }

  @Get('range/:tag')
  @TakesIds(MAX_RANGE_SIZE)
  @Header('content-type', JSON_TYPE)
  @ApiOperation({
    operationId: 'takeSegmentRanges',
    summary: 'The next IDs of a tag as ranges',
    description: 'One request allocates up to a million IDs: every number from `from` to `to` belongs to the client.',
  })
  @ApiParam({ name: 'tag', ...TAG })
  @ApiSizeAndNonce(MAX_RANGE_SIZE)
  @ApiResponse({
    status: 200,
    description: 'Ascending ranges; their sizes add up to the requested size.',
    type: SegmentRanges,
    headers: NONCE_ECHO,
  })
  @ApiProblems('LEAF_SIZE_INVALID', 'LEAF_TAG_PERIODIC', 'LEAF_TAG_GAPLESS', ...SEGMENT_PROBLEMS)
  async range(
    @Param('tag') tag: string,
    @GivenSize() size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    assertTag(tag);
    void reply.header(NONCE_HEADER, parseNonce(nonce));
    const ranges = await this.ids.nextRanges(tag, parseSize(size, MAX_RANGE_SIZE));
    return rangesText(tag, ranges, { strict: this.ids.isStrict(tag) });
  }
}
