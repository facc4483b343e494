import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { assertTag, MAX_BATCH_SIZE, MAX_RANGE_SIZE, NONCE_HEADER, NONCE_PARAMETER } from '@leaf/core';
import { EmbeddedIdService } from '@leaf/id';
import { JSON_TYPE, TEXT_TYPE } from '../http/fast-path';
import { SEGMENT_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json, plainText } from '../openapi/route-description';
import { arrayOf, object } from '../openapi/schema';
import { ID, NONCE, NONCE_ECHO, sizeUpTo, TAG } from '../openapi/shared-schemas';
import { BatchAnswer } from './batch-answer';
import { rangesText } from '../http/responses/batch-text';
import { parseNonce } from './nonce';
import { parseSize } from './size';

interface BatchResponse {
  readonly tag: string;
  readonly ids: string[];
}

export interface RangeResponse {
  readonly tag: string;
  readonly order?: 'strict';
  readonly ranges: { readonly from: string; readonly to: string }[];
}

const BATCH = object<BatchResponse>('SegmentBatch', { tag: TAG, ids: arrayOf(ID) });
export const RANGE = object<RangeResponse['ranges'][number]>('IdRange', {
  from: { ...ID, description: 'The first ID.', example: '1' },
  to: { ...ID, description: 'The last ID; it belongs to the range.', example: '1000' },
});
const RANGES = object<RangeResponse>(
  'SegmentRanges',
  {
    tag: TAG,
    order: {
      type: 'string',
      enum: ['strict'],
      description:
        'Only of a strict tag, whose IDs ascend over all servers: to keep that, give them only to those who were waiting when this request was sent, and drop the others.',
    },
    ranges: arrayOf(RANGE),
  },
  ['order'],
);

@Controller('api/segment')
export class SegmentController {
  private readonly batchAnswer = new BatchAnswer();

  constructor(private readonly ids: EmbeddedIdService) {}

  @Get('get/:tag')
  @Header('content-type', TEXT_TYPE)
  @Describe({
    id: 'takeSegmentId',
    group: 'Segment IDs',
    summary: 'The next ID of a tag',
    path: { tag: TAG },
    answers: { 200: plainText(ID, 'The ID.') },
    problems: ['LEAF_TAG_PERIODIC', ...SEGMENT_PROBLEMS],
  })
  get(@Param('tag') tag: string): Promise<string> {
    assertTag(tag);
    return this.ids.nextIdString(tag);
  }

  @Get('batch/:tag')
  @Describe({
    id: 'takeSegmentIds',
    group: 'Segment IDs',
    summary: 'The next IDs of a tag',
    path: { tag: TAG },
    query: { size: sizeUpTo(MAX_BATCH_SIZE), [NONCE_PARAMETER]: NONCE },
    answers: { 200: { ...json(BATCH, 'The IDs, ascending.'), headers: NONCE_ECHO } },
    problems: ['LEAF_SIZE_INVALID', 'LEAF_TAG_PERIODIC', ...SEGMENT_PROBLEMS],
  })
  async batch(
    @Param('tag') tag: string,
    @Query('size') size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    assertTag(tag);
    const echo = parseNonce(nonce);
    this.batchAnswer.send(reply, echo, 'tag', tag, await this.ids.nextRanges(tag, parseSize(size, MAX_BATCH_SIZE)));
  }

  @Get('range/:tag')
  @Header('content-type', JSON_TYPE)
  @Describe({
    id: 'takeSegmentRanges',
    group: 'Segment IDs',
    summary: 'The next IDs of a tag as ranges',
    detail: 'One call hands a client up to a million IDs: every number from `from` to `to` is its own.',
    path: { tag: TAG },
    query: { size: sizeUpTo(MAX_RANGE_SIZE), [NONCE_PARAMETER]: NONCE },
    answers: {
      200: {
        ...json(RANGES, 'Ascending ranges; their sizes add up to the size that was asked for.'),
        headers: NONCE_ECHO,
      },
    },
    problems: ['LEAF_SIZE_INVALID', 'LEAF_TAG_PERIODIC', ...SEGMENT_PROBLEMS],
  })
  async range(
    @Param('tag') tag: string,
    @Query('size') size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    assertTag(tag);
    void reply.header(NONCE_HEADER, parseNonce(nonce));
    const ranges = await this.ids.nextRanges(tag, parseSize(size, MAX_RANGE_SIZE));
    return rangesText(tag, ranges, { strict: this.ids.isStrict(tag) });
  }
}
